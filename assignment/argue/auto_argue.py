"""AutoArgue: a model judges a report sentence by sentence, each time asked one question with yes or no."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, QuerySet

from assessor.campaigns.models import Condition, Sentence, Topic
from assessor.campaigns.passages import cited_passages
from assessor.campaigns.queries import answers_to
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompt_requests import gather_all
from assessor.llm.prompts import TOKENS_LABEL, PromptRequest, PromptSet
from assessor.work.judging_pool import NOT_JUDGED
from assignment.actions import usual_name
from assignment.argue.actions import Judged, add_lacking_sheets, store_judgments
from assignment.argue.documents import document_text
from assignment.argue.items import Bank, Item, bank_of, judged_sentences
from assignment.argue.label_kind import ARGUE, AUTO
from assignment.argue.models import ArgueSheet
from assignment.argue.prompts import (
    ANSWERS_QUESTION,
    ATTEST,
    FIRST_INSTANCE,
    NEEDS_CITATION,
    NEGATIVE_CLAIM,
    previous,
)
from assignment.argue.queries import judged_reports, reports_of, reports_without_sheet, sheets_on
from assignment.argue.questions import gold_texts
from assignment.argue.vocabulary import ANSWERS, ATTESTS, NEEDS, NEGATIVE, NO, YES
from nuggets.drafting import in_batches
from nuggets.models import NuggetBank
from nuggets.queries import banks_by_topic, present_editions

_AT_A_TIME = 200
_LACKS_TEXT = "The text of {} is not loaded."


class Work(NamedTuple):
    """What a unit needs. labels: what is said already, by item's key; documents: by docid; texts: of gold answers."""

    sheet: int
    edition: int
    bank: Bank
    sentences: list[Sentence]
    labels: dict[str, str]
    documents: dict[str, str]
    texts: dict[tuple[str, str], tuple[str, str]]

    def open(self, labels: Mapping[str, str]) -> list[Item]:
        """Return what is asked and has no label yet."""
        return [item for item in self.bank.items(self.sentences, labels) if item.key not in labels]

    def request(self, item: Item, prompts: PromptSet) -> PromptRequest[str]:
        """Return the request for an item. Raises UnitFailure where the text is not loaded that it is about."""
        sentence = self.sentences[item.sentence].text
        if item.step == ATTESTS:
            if item.docid not in self.documents:
                raise UnitFailure(_LACKS_TEXT.format(item.docid))
            return ATTEST.request(prompts, sentence=sentence, document=self.documents[item.docid])
        if item.step == ANSWERS:
            question, gold = self.texts[item.nugget, item.gold]
            return ANSWERS_QUESTION.request(prompts, sentence=sentence, question=question, gold=gold)
        if item.step == NEEDS:
            return NEEDS_CITATION.request(prompts, sentence=sentence)
        if item.step == NEGATIVE:
            return NEGATIVE_CLAIM.request(prompts, sentence=sentence)
        before = previous(self.sentences, item.sentence)
        return FIRST_INSTANCE.request(prompts, sentence=sentence, previous=before)

    def requests(self, prompts: PromptSet) -> Iterator[PromptRequest[str]]:
        """Yield the most requests that there can be, where no sentence claims an absence."""
        needed = {
            Item(at, "", step).key: label
            for at, sentence in enumerate(self.sentences)
            if not sentence.citations
            for step, label in ((NEEDS, YES), (NEGATIVE, NO))
        }
        there = self.open(self.labels)
        items = {*there, *self.open({**needed, **self.labels})}
        for item in sorted(items):
            if item.step != ATTESTS or item.docid in self.documents:
                yield self.request(item, prompts)


class AutoArgue(JobKind):
    """The kind of job; assessor.llm.job_kind says what each function is for. A unit is a report, by its key."""

    name = AUTO
    title = "Judge reports"
    summary = "what does each sentence state, and do its citations attest it?"
    counted = "Reports judged"
    when_empty = "No topic has finished questions and reports. Upload questions and runs."
    condition_kind = ARGUE.name
    method = AUTO
    prompts = (ATTEST, ANSWERS_QUESTION, NEEDS_CITATION, FIRST_INSTANCE, NEGATIVE_CLAIM)
    about_answers = True

    def called(self, condition: Condition) -> str:
        """Return how papers call it, by how the questions came to be."""
        assert condition.nuggets is not None, "it builds on questions"
        return usual_name(condition.nuggets, "ARGUE")

    def begin(self, condition: Condition, topics: Sequence[Topic]) -> int:
        """Write the sheets: they are the condition's scope. Nobody is asked about an empty report."""
        return add_lacking_sheets(condition, topics)

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, int, str]]:
        """Yield (topic's key, answer's key, "") of all reports that lack judgments."""
        keys = _unfinished(condition, _banks(condition, topics)).order_by("bank", "answer")
        pairs = keys.values_list("answer__topic", "answer").iterator(chunk_size=_AT_A_TIME)
        return ((topic, answer, "") for topic, answer in pairs)

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the reports on each topic, and those that have all judgments."""
        banks = banks_by_topic(condition.nuggets, topics) if condition.nuggets else {}
        reports = dict(answers_to(topics).order_by().values_list("topic").annotate(Count("pk")))
        done = judged_reports(condition)
        states = {}
        for topic in topics:
            lacking = "" if topic.pk in reports else "no answers"
            if topic.pk not in banks:
                lacking = "questions not finished"
            states[topic.pk] = TopicState(lacking, done.get(topic.pk, 0), reports.get(topic.pk, 0))
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take at most, where each sentence that cites nothing is asked whether it is new.

        Raises JobError where no topic has finished questions.
        """
        banks = _banks(condition, topics)
        if not banks:
            raise JobError(f"None of the topics has finished questions under {condition.nuggets}.")
        new = reports_without_sheet(condition, banks)
        unfinished = _unfinished(condition, banks).order_by("pk").values_list("answer", flat=True)
        calls = characters = 0
        for some in in_batches([*new, *unfinished], _AT_A_TIME):
            for work in _works(condition, banks, some).values():
                for request in work.requests(prompts):
                    calls += 1
                    characters += request.characters
        return Expected(calls, characters, TOKENS_LABEL * calls)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the reports of a batch, with what they cite."""
        banks = {bank.topic_id: bank for bank in _banks(job.condition, list({unit.topic for unit in units}))}
        works = _works(job.condition, list(banks.values()), [unit.answer_id for unit in units if unit.answer_id])
        found = sheets_on(banks.values(), job.condition).filter(answer__in=works)
        sheets = {sheet.answer_id: sheet for sheet in found.defer("extras")}
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            assert unit.answer_id is not None, "each is about a report"
            bank, sheet, qid = banks.get(unit.topic_id), sheets.get(unit.answer_id), unit.topic.qid
            if bank is None:
                prepared[unit.pk] = UnitFailure(f"The questions of {qid} are being changed.")
            elif sheet is None:
                prepared[unit.pk] = UnitFailure(f"Others finished questions of {qid} since: launch a job for these.")
            elif sheet.out_of_scope:
                prepared[unit.pk] = UnitFailure(NOT_JUDGED)
            elif sheet.edition != bank.edition:
                prepared[unit.pk] = UnitFailure(f"The questions of {qid} were changed at this very moment.")
            else:
                prepared[unit.pk] = works[unit.answer_id]
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> Judged:
        """Ask all questions that need no other's answer at once, and then those that followed from the answers.

        What fails leaves its judgment missing, and all others stand. Where nothing could be judged, the unit fails.
        """
        labels = dict(work.labels)
        failures: dict[str, UnitFailure] = {}
        while items := [item for item in work.open(labels) if item.key not in failures]:
            requested = (_reply(work, item, ask) for item in items)
            for item, reply in zip(items, await gather_all(requested), strict=True):
                if isinstance(reply, UnitFailure):
                    failures[item.key] = reply
                else:
                    labels[item.key] = reply
        if failures and labels == work.labels:
            raise next(iter(failures.values()))
        return Judged(work.sheet, work.edition, labels)

    def store(self, job: Job, results: Sequence[tuple[Unit, Judged]]) -> None:
        """Write the judgments. A unit whose questions were changed meanwhile fails."""
        store_judgments(job, results)

    def notes(self, job: Job) -> list[str]:
        """Say how many reports lack a judgment though the model was asked about them."""
        done = job.units.filter(state=Unit.State.DONE).order_by().values("answer")
        number = ArgueSheet.objects.filter(condition=job.condition_id, answer__in=done, to_do__gt=0).count()
        if not number:
            return []
        some, lack = ("report", "lacks") if number == 1 else ("reports", "lack")
        why = "a reply could not be used, or a cited text is not loaded"
        return [f"{number:,} {some} {lack} judgments: {why}. Launch the job again to ask for them once more."]


async def _reply(work: Work, item: Item, ask: Ask) -> str:
    return await ask(work.request(item, ask.prompts))


def _banks(condition: Condition, topics: Sequence[Topic]) -> list[NuggetBank]:
    assert condition.nuggets is not None, "reports are judged against questions"
    return list(banks_by_topic(condition.nuggets, topics).values())


def _unfinished(condition: Condition, banks: Collection[NuggetBank]) -> QuerySet[ArgueSheet]:
    """Return the sheets that lack judgments; no text that has given way to what the run itself answered."""
    return sheets_on(banks, condition).filter(answer__apart=False, to_do__gt=0, out_of_scope=False)


def _works(condition: Condition, banks: Sequence[NuggetBank], answers: Sequence[int]) -> dict[int, Work]:
    """Return what is needed to judge reports, by their keys; of one without a sheet, as if it had an empty one."""
    editions = present_editions(banks)
    nuggets = {bank.topic_id: editions[bank.pk].nuggets for bank in banks}
    asked = {topic: bank_of(of_bank, condition.protocol) for topic, of_bank in nuggets.items()}
    texts = {topic: gold_texts(of_bank) for topic, of_bank in nuggets.items()}
    found = ArgueSheet.with_items(sheets_on(banks, condition).filter(answer__in=answers).defer("extras"))
    sheets = {sheet.answer_id: sheet for sheet in found}
    reports = [report for report in reports_of(answers).order_by("pk") if report.topic_id in nuggets]
    sentences = {one.pk: judged_sentences(list(one.sentences()), condition.protocol, one.topic) for one in reports}
    cited = {
        (report.run_id, citation.docid)
        for report in reports
        for sentence in sentences[report.pk]
        for citation in sentence.citations
    }
    documents = {one: document_text(found) for one, found in cited_passages(condition.campaign, cited).items()}
    works = {}
    for report in reports:
        sheet = sheets.get(report.pk)
        of_report = {
            citation.docid: documents[report.run_id, citation.docid]
            for sentence in sentences[report.pk]
            for citation in sentence.citations
            if (report.run_id, citation.docid) in documents
        }
        works[report.pk] = Work(
            sheet.pk if sheet else 0,
            sheet.edition if sheet else 0,
            asked[report.topic_id],
            sentences[report.pk],
            _said(sheet),
            of_report,
            texts[report.topic_id],
        )
    return works


def _said(sheet: ArgueSheet | None) -> dict[str, str]:
    """Return the labels that stand; of what can't be judged, that too, so that nobody asks again."""
    return {**sheet.cannot, **sheet.labels} if sheet else {}
