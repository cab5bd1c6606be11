"""AutoGrade: a model grades how well an answer answers a bank's questions, one a call or as the protocol says."""

import re
from collections.abc import Mapping, Sequence

from assessor.campaigns.models import Answer, Condition, Protocol
from assessor.campaigns.passages import cited_texts
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.job_kind import Ask, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompt_requests import gather_all
from assessor.llm.prompts import PromptRequest, PromptSet, object_schema
from assessor.llm.rehearsal.word_overlap import share
from assignment.actions.auto_assign import Labelled
from assignment.auto_assign import AnswerLabelsPrompt, AutoAssign, Work
from assignment.grading.label_kind import AUTO, AUTO_PASSAGES, GRADING
from assignment.grading.measures import LARGEST
from nuggets.prompts import nuggets_in_prompt

GRADE_OR_LIST = "grade or list of grades"
_BLANK_LINES = re.compile(r"\n\s*\n")


class GradingPrompt(AnswerLabelsPrompt):
    """Asks how well questions can be answered from a text: the model sees no gold answer, and not the query.

    A text that names the reader GRADE_OR_LIST asks for the grade alone where there is one question, as RUBRIC does.
    Under any other text, such as one that a condition has from before, the reply is a list of one.
    """

    name = "grading"
    batch = GRADING.batch_setting
    needed = frozenset({"answer", "nuggets"})
    schema_reader = GRADE_OR_LIST
    readers = (GRADE_OR_LIST,)
    vocabulary = GRADING.labels

    def request(
        self, prompts: PromptSet, *, query: str, answer: str, nuggets: Sequence[str]
    ) -> PromptRequest[list[str]]:
        """Return the request."""
        request = self.labels_request(prompts, GRADING.labels, nuggets, {"answer": answer})
        if len(nuggets) > 1 or prompts.reader(self.name) != GRADE_OR_LIST:
            return request
        schema = object_schema("grade", {"type": "integer", "enum": [int(label) for label in GRADING.labels]})
        return request._replace(schema=schema, read=lambda text: [replies.label(text, GRADING.labels)])

    def rehearse(self, values: Mapping[str, str]) -> list[str] | str | None:
        """Return a grade of each question by how many of its words the answer has."""
        questions, answer = nuggets_in_prompt(values), stems(values["answer"])
        if questions is None:
            return None
        highest = len(GRADING.labels) - 1
        grades = [str(round(share(one, answer) * highest)) for one in questions]
        return grades[0] if len(grades) == 1 and values.get("reader") == GRADE_OR_LIST else grades


GRADING_PROMPT = GradingPrompt()


class AutoGrade(AutoAssign):
    """The kind of job. A unit is an answer, by its key.

    The protocol's grade_text says what is graded: the answer; the paragraphs of what it cites, of which the best one
    counts (an answer that cites nothing gets 0); or both, whose product counts.
    """

    prompt = GRADING_PROMPT
    name = AUTO
    title = "Grade questions"
    summary = "how well does the answer answer each question, 0 to 5?"
    counted = "Answers graded"
    when_empty = "No topic has finished questions and answers. Upload questions and runs."
    condition_kind = GRADING.name
    method = AUTO
    prompts = (GRADING_PROMPT,)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read, where they are graded, the texts of what the answers of a batch cite."""
        prepared = super().prepare(job, units)
        if not _are_documents_graded(job.condition):
            return prepared
        answers = Answer.objects.filter(pk__in=[unit.answer_id for unit in units]).select_related("run", "topic")
        by_key = {answer.pk: answer for answer in answers.order_by()}
        documents = _documents(job.condition, list(by_key.values()))
        return {
            unit.pk: _with_paragraphs(job.condition.protocol, work, by_key[unit.answer_id], documents[unit.answer_id])
            if isinstance(work := prepared[unit.pk], Work) and unit.answer_id
            else work
            for unit in units
        }

    async def carry_out(self, work: Work, ask: Ask) -> Labelled:
        """Ask for the grades. All paragraphs are asked about at once."""
        if work.paragraphs is None:
            return await super().carry_out(work, ask)
        texts = [work.answer] * work.is_answer_asked + [*work.paragraphs]
        asked = (super(AutoGrade, self).carry_out(work._replace(answer=text), ask) for text in texts)
        grades = []
        for found in await gather_all(asked):
            if isinstance(found, UnitFailure):
                raise found
            grades.append({nugget: int(label) for nugget, label in found.labels.items()})
        of_answer = grades.pop(0) if work.is_answer_asked else None
        labels = {}
        for nugget in (nugget["id"] for batch in work.batches for nugget in batch):
            best = max((of_paragraph[nugget] for of_paragraph in grades), default=0)
            labels[nugget] = combined_grade(best, of_answer[nugget] if of_answer else None)
        return Labelled(work.sheet, work.edition, labels)

    def lengths(self, condition: Condition, answers: Sequence[Answer]) -> Mapping[int, Sequence[int]]:
        """Return how long what is graded of each answer is; of documents without a text nobody is asked."""
        of_answers = super().lengths(condition, answers)
        if not _are_documents_graded(condition):
            return of_answers
        is_answer_asked = condition.protocol.grade_text == Protocol.GradeText.BOTH
        return {
            answer: [*of_answers[answer]] * is_answer_asked
            + [len(paragraph) for text in texts.values() for paragraph in paragraphs(text or "")]
            for answer, texts in _documents(condition, answers).items()
        }


class GradePassages(AutoGrade):
    """The same of the pool's passages, as RUBRIC grades what systems retrieve. A unit is a passage, as an answer."""

    name = AUTO_PASSAGES
    title = "Grade questions in passages"
    summary = "how well does the passage answer each question, 0 to 5?"
    counted = "Passages graded"
    when_empty = "No topic has finished questions and passages. Upload questions, and take in the pool's passages."
    of_passages = True

    def called(self, condition: Condition) -> str:
        return f"{super().called(condition)}, passages"


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a document: blank lines stand between them."""
    return [found.strip() for found in _BLANK_LINES.split(text) if found.strip()]


def combined_grade(of_documents: int, of_answer: int | None) -> str:
    """Return the grade of a question: of the documents, or, where the answer is graded too, their product.

    The product, 0 to 25, counts as so many whole times 5: it is t or more where PrefNugget finds a question covered
    from t on.
    """
    return str(of_documents if of_answer is None else of_documents * of_answer // LARGEST)


def _are_documents_graded(condition: Condition) -> bool:
    return not condition.of_passages and condition.protocol.grade_text != Protocol.GradeText.RESPONSE


def _documents(condition: Condition, answers: Sequence[Answer]) -> dict[int, dict[str, str | None]]:
    """Return the text of each document that answers cite, by answer's key and docid; None where it is not loaded."""
    cited = {
        answer.pk: dict.fromkeys(citation.docid for sentence in answer.sentences() for citation in sentence.citations)
        for answer in answers
    }
    texts = cited_texts(condition.campaign, {(one.run_id, docid) for one in answers for docid in cited[one.pk]})
    return {one.pk: {docid: texts.get((one.run_id, docid)) for docid in cited[one.pk]} for one in answers}


def _with_paragraphs(
    protocol: Protocol, work: Work, answer: Answer, documents: Mapping[str, str | None]
) -> Work | UnitFailure:
    if answer.form in Answer.WITH_LABELS:  # a run file may say that it cites more
        return UnitFailure(f"What {answer.run} cites on {answer.topic.qid} is not known: upload the run's file.")
    found: dict[str, None] = {}
    for docid, text in documents.items():
        if text is None:
            return UnitFailure(f"The text of {docid} is not loaded.")
        found.update(dict.fromkeys(paragraphs(text)))
    is_answer_asked = protocol.grade_text == Protocol.GradeText.BOTH
    return work._replace(paragraphs=list(found), is_answer_asked=is_answer_asked)
