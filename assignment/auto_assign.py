"""AutoAssign: a model says which nuggets of a finished bank an answer contains, a list of them at a time."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.campaigns.queries import texts_to_label
from assessor.formats.stems import stems
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.preview import answer_of
from assessor.llm.prompt_requests import gather_all
from assessor.llm.prompts import Preview, PreviewError, PreviewSubject, PromptRequest, PromptSet, PublishedTemplate
from assessor.llm.rehearsal.word_overlap import label_by_share
from assessor.runtime.commits import after_commit
from assessor.studies.sensitivity import in_order
from assessor.work.judging_pool import NOT_JUDGED
from assignment.actions import add_lacking_sheets, open_labelled, store_labels, usual_name
from assignment.actions.auto_assign import Labelled
from assignment.formats import LABELS, NOT_SUPPORT
from assignment.label_kind import ASSIGNMENT
from assignment.models import AnswerSheet
from assignment.queries import answers_without_sheet, asked_of, labelled_answers, sheets_on
from nuggets.drafting import in_batches
from nuggets.editions import Snapshot
from nuggets.models import BankEdition, NuggetBank
from nuggets.prompts import LABEL_LIST, PUBLISHED_LABELS, NuggetLabelsPrompt, first_batch, nuggets_in_prompt
from nuggets.queries import banks_by_topic, present_editions

_AT_A_TIME = 2_000
_TWO_LABEL_LIST = "list of two labels"
_TWO_LABELS = (LABELS[0], NOT_SUPPORT)
_PUBLISHED = PUBLISHED_LABELS | {"context": "answer"}


class AnswerLabelsPrompt(NuggetLabelsPrompt):
    """Asks for a label of each nugget of a list in an answer. batch: the setting of how many are in a call."""

    batch: str
    longest = "answer"

    def request(
        self, prompts: PromptSet, *, query: str, answer: str, nuggets: Sequence[str]
    ) -> PromptRequest[list[str]]:
        """Return the request."""
        raise NotImplementedError

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the first batch of a bank, about the answer of a run."""
        nuggets, made_from = first_batch(campaign, topic, subject, getattr(campaign.protocol, self.batch))
        answer = answer_of(campaign, topic, subject).text
        if not answer.strip():
            raise PreviewError("The answer is empty: no model is asked about it.")
        return Preview(self.request(prompts, query=topic.title, answer=answer, nuggets=nuggets), made_from)


class AssignmentPrompt(AnswerLabelsPrompt):
    """Asks which nuggets an answer contains."""

    name = "assignment"
    batch = ASSIGNMENT.batch_setting
    needed = frozenset({"query", "answer", "nuggets"})
    readers = (LABEL_LIST, _TWO_LABEL_LIST)
    vocabulary = LABELS
    published = {
        "nugget_assignment": PublishedTemplate(LABEL_LIST, _PUBLISHED),
        "nugget_assignment_2grade": PublishedTemplate(_TWO_LABEL_LIST, _PUBLISHED),
    }

    def request(
        self, prompts: PromptSet, *, query: str, answer: str, nuggets: Sequence[str]
    ) -> PromptRequest[list[str]]:
        """Return the request."""
        vocabulary = _TWO_LABELS if prompts.reader(self.name) == _TWO_LABEL_LIST else LABELS
        return self.labels_request(prompts, vocabulary, nuggets, {"query": query, "answer": answer})

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return a label of each nugget by how many of its words the answer has."""
        nuggets, answer = nuggets_in_prompt(values), stems(values["answer"])
        return None if nuggets is None else [label_by_share(nugget, answer, LABELS) for nugget in nuggets]


ASSIGNMENT_PROMPT = AssignmentPrompt()


class Work(NamedTuple):
    """What a unit needs. sheet and edition: where the labels go; batches: the nuggets that have none, in bank order.

    paragraphs: of what the answer cites, where these are labelled too, or, unless is_answer_asked, instead.
    """

    query: str
    answer: str
    sheet: int
    edition: int
    batches: list[Snapshot]
    paragraphs: Sequence[str] | None = None
    is_answer_asked: bool = True


class AutoAssign(JobKind):
    """The kind of job; assessor.llm.job_kind says what each function is for. A unit is an answer, by its key.

    Other kinds in which a model labels nuggets of answers inherit from it.
    """

    prompt: AnswerLabelsPrompt = ASSIGNMENT_PROMPT
    name = "AutoAssign"
    title = "Assign nuggets"
    summary = "does the answer contain each nugget?"
    counted = "Answers labelled"
    when_empty = "No topic has finished nuggets and answers. Finish a nugget list, or upload nuggets and runs."
    condition_kind = "assignment"
    method = "AutoAssign"
    prompts: tuple[AnswerLabelsPrompt, ...] = (ASSIGNMENT_PROMPT,)
    about_answers = True

    @property
    def items(self) -> str:
        """What is labelled, in the plural."""
        return self.nuggets_called

    def called(self, condition: Condition) -> str:
        """Return how papers call it, by how the nuggets came to be: "Edits/Auto"."""
        assert condition.nuggets is not None, "it builds on nuggets"
        return usual_name(condition.nuggets, "Auto")

    def _batch(self, condition: Condition) -> int:
        """Return how many nuggets are in a call."""
        batch: int = condition.variant.get("batch") or getattr(condition.protocol, self.prompt.batch)
        return batch

    def begin(self, condition: Condition, topics: Sequence[Topic]) -> int:
        """Write the answer sheets: they are the condition's scope. Those of empty answers are filled by rule."""
        return add_lacking_sheets(condition, topics)

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, int, str]]:
        """Yield (topic's key, answer's key, "") of all answers with nuggets that have no label, in one query."""
        sheets = _unfinished(condition, _banks(condition, topics))
        keys = sheets.order_by("bank", "answer").values_list("answer__topic", "answer")
        return ((topic, answer, "") for topic, answer in keys.iterator(chunk_size=_AT_A_TIME))

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the answers to each topic, and those all of whose nuggets have a label."""
        banks = banks_by_topic(condition.nuggets, topics) if condition.nuggets else {}
        texts = texts_to_label(condition, topics)
        answers = dict(texts.order_by().values_list("topic").annotate(Count("pk")))
        done = labelled_answers(condition)
        states = {}
        for topic in topics:
            lacking = "" if topic.pk in answers else "no passages" if condition.of_passages else "no answers"
            if topic.pk not in banks:
                lacking = f"{self.items} not finished"
            states[topic.pk] = TopicState(lacking, done.get(topic.pk, 0), answers.get(topic.pk, 0))
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take: topics without finished nuggets have none. Raises JobError if all are such."""
        banks = _banks(condition, topics)
        if not banks:
            raise JobError(f"None of the topics has finished {self.items} under {condition.nuggets}.")
        editions = present_editions(banks)
        titles = {topic.pk: topic.title for topic in topics}
        texts = {nugget["id"]: nugget["text"] for edition in editions.values() for nugget in edition.nuggets}

        @cache  # many answers lack the same nuggets
        def without_answer(topic: int, nuggets: tuple[int, ...]) -> Expected:
            asked = [
                self.prompt.request(prompts, query=titles[topic], answer="", nuggets=[texts[pk] for pk in batch])
                for batch in in_batches(nuggets, self._batch(condition))
            ]
            characters = sum(request.characters for request in asked)
            return Expected(len(asked), characters, sum(request.tokens_out for request in asked))

        calls = characters = tokens_out = 0
        unlabelled = _unlabelled_answers(condition, banks, editions)
        while some := list(islice(unlabelled, _AT_A_TIME)):
            lengths = self.lengths(condition, [answer for answer, _ in some])
            for answer, nuggets in some:
                asked = without_answer(answer.topic_id, tuple(nugget["id"] for nugget in nuggets))
                for length in lengths[answer.pk]:
                    calls += asked.calls
                    characters += asked.characters + asked.calls * length
                    tokens_out += asked.tokens_out
        return Expected(calls, characters, tokens_out)

    def lengths(self, condition: Condition, answers: Sequence[Answer]) -> Mapping[int, Sequence[int]]:
        """Return how many characters the texts have in which each answer's nuggets are looked for, by its key."""
        return {answer.pk: [len(answer.text)] for answer in answers}

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the answers of a batch, and the nuggets of each that have no label."""
        topics = {unit.topic_id: unit.topic for unit in units}
        banks = {bank.topic_id: bank for bank in _banks(job.condition, list(topics.values()))}
        editions = present_editions(banks.values())
        answers = [unit.answer_id for unit in units]
        found = sheets_on(banks.values(), job.condition).filter(answer__in=answers).select_related("answer")
        sheets = {sheet.answer_id: sheet for sheet in AnswerSheet.with_items(found)}
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            bank, sheet, qid = banks.get(unit.topic_id), sheets.get(unit.answer_id), unit.topic.qid
            if bank is None:
                prepared[unit.pk] = UnitFailure(f"The {self.items} of {qid} are being changed.")
            elif sheet is None:
                prepared[unit.pk] = UnitFailure(f"Others finished {self.items} of {qid} since: launch a job for these.")
            elif sheet.out_of_scope:
                prepared[unit.pk] = UnitFailure(NOT_JUDGED)
            elif sheet.edition != editions[bank.pk].edition:
                prepared[unit.pk] = UnitFailure(f"The {self.items} of {qid} were changed at this very moment.")
            else:
                nuggets = _unlabelled(sheet, editions[bank.pk].nuggets)
                nuggets = in_order(nuggets, job.condition.variant.get("order", ""), lambda nugget: nugget["text"])
                prepared[unit.pk] = Work(
                    query=unit.topic.title,
                    answer=sheet.answer.text,
                    sheet=sheet.pk,
                    edition=sheet.edition,
                    batches=[list(batch) for batch in in_batches(nuggets, self._batch(job.condition))],
                )
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> Labelled:
        """Ask for the labels, of all lists at once: none builds on another, and each may wait a day for its batch."""
        asked = (
            ask(self.prompt.request(ask.prompts, query=work.query, answer=work.answer, nuggets=_texts(nuggets)))
            for nuggets in work.batches
        )
        labels: dict[int, str] = {}
        for nuggets, said in zip(work.batches, await gather_all(asked), strict=True):
            if isinstance(said, UnitFailure):
                raise said
            labels.update(zip((nugget["id"] for nugget in nuggets), said, strict=True))
        return Labelled(work.sheet, work.edition, labels)

    def store(self, job: Job, results: Sequence[tuple[Unit, Labelled]]) -> None:
        """Write the labels. A unit whose nuggets were changed meanwhile fails."""
        store_labels(job, results)
        topics = {unit.topic_id for unit, _ in results}
        after_commit(open_labelled, job.condition, topics)


def _banks(condition: Condition, topics: Sequence[Topic]) -> list[NuggetBank]:
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    return list(banks_by_topic(condition.nuggets, topics).values())


def _unfinished(condition: Condition, banks: Collection[NuggetBank]) -> QuerySet[AnswerSheet]:
    """Return the sheets with nuggets that have no label; no text that has given way to what the run itself answered."""
    is_meant = Q(answer__apart=False) | Q(answer__form=Answer.Form.PASSAGE)
    return sheets_on(banks, condition).filter(is_meant, to_do__gt=0, out_of_scope=False)


def _unlabelled_answers(
    condition: Condition, banks: Sequence[NuggetBank], editions: Mapping[int, BankEdition]
) -> Iterator[tuple[Answer, Snapshot]]:
    """Yield the answers that a model has to be asked about, each with the nuggets of which nothing is said."""
    nuggets_of = {bank.topic_id: editions[bank.pk].nuggets for bank in banks}
    new = [answer for answer, _, words in answers_without_sheet(condition, banks) if words]
    for some in in_batches(new, _AT_A_TIME):
        answers = list(Answer.objects.filter(pk__in=some).order_by().only("topic", "run", "content", "references"))
        asked = asked_of(condition, {answer.pk: nuggets_of[answer.topic_id] for answer in answers})
        for answer in answers:
            yield answer, [nugget for nugget in nuggets_of[answer.topic_id] if nugget["id"] in asked[answer.pk]]
    unfinished = _unfinished(condition, banks).order_by().select_related("answer")
    only = ("bank", "is_part", "answer__topic", "answer__run", "answer__content", "answer__references")
    for sheet in AnswerSheet.with_items(unfinished.only(*only)).iterator(chunk_size=_AT_A_TIME):
        yield sheet.answer, _unlabelled(sheet, editions[sheet.bank_id].nuggets)


def _unlabelled(sheet: AnswerSheet, nuggets: Snapshot) -> Snapshot:
    """Return the nuggets of a sheet's edition that it asks about and of which nothing is said, in bank order."""
    asked = [nugget for nugget in nuggets if sheet.asked is None or nugget["id"] in sheet.asked]
    return [nugget for nugget in asked if not sheet.is_said(str(nugget["id"]))]


def _texts(nuggets: Sequence[dict[str, Any]]) -> list[str]:
    return [nugget["text"] for nugget in nuggets]
