"""AutoGrade: a model grades how well an answer answers a bank's questions, one a call or as the protocol says."""

from collections.abc import Mapping, Sequence

from assessor.campaigns.models import Condition
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.prompts import PromptRequest, PromptSet, object_schema
from assessor.llm.rehearsal.word_overlap import share
from assignment.auto_assign import AnswerLabelsPrompt, AutoAssign
from assignment.grading.label_kind import AUTO, AUTO_PASSAGES, GRADING
from nuggets.prompts import nuggets_in_prompt

GRADE_OR_LIST = "grade or list of grades"


class GradingPrompt(AnswerLabelsPrompt):
    """Asks how well questions can be answered from a text: the model sees no gold answer, and not the query.

    A text that names the reader GRADE_OR_LIST asks for the grade alone where there is one question, as RUBRIC does.
    Under any other text, such as one that a condition has from before, the reply is a list of one.
    """

    name = "grading"
    batch = "grade_batch"
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
    """The kind of job. A unit is an answer, by its key."""

    prompt = GRADING_PROMPT
    name = AUTO
    title = "Grade questions"
    summary = "how well does the answer answer each question, 0 to 5?"
    counted = "Answers graded"
    when_empty = "No topic has finished questions and answers. Upload questions and runs."
    condition_kind = GRADING.name
    method = AUTO
    prompts = (GRADING_PROMPT,)


class GradePassages(AutoGrade):
    """The same of the pool's passages, as RUBRIC grades what systems retrieve. A unit is a passage, as an answer."""

    name = AUTO_PASSAGES
    title = "Grade questions in passages"
    summary = "how well does the passage answer each question, 0 to 5?"
    counted = "Passages graded"
    when_empty = "No topic has finished questions and passages. Upload questions, and take in the pool's passages."
    of_passages = True

    def called(self, nuggets: Condition | None) -> str:
        return f"{super().called(nuggets)}, passages"
