"""Report: a model reads each document for each question of a bank, as Crucible does."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models.functions import Length

from assessor.campaigns.models import Condition, Segment, Topic
from assessor.campaigns.queries import segment_texts
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Ask, Expected, Grades, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PreviewSubject, PromptSet
from nuggets.reports.actions import store_readings
from nuggets.reports.assembly import CHUNK, chunks
from nuggets.reports.condition_kind import REPORT, REPORTS
from nuggets.reports.prompts import REPORT_PROMPT, TOKENS_OUT
from nuggets.reports.queries import lacking_pairs, read_pairs, to_read


class Work(NamedTuple):
    """What the model is shown: a question with one chunk of a document after another."""

    question: str
    chunks: list[str]


class ReportJob(JobKind):
    """The kind of job. A unit is a question's id and a docid."""

    name = REPORT
    title = "Read documents for reports"
    summary = "what does each document say to each question?"
    counted = "Questions in documents"
    when_empty = "No topic has a finished bank and documents. Upload a bank, and grades or a retrieval run."
    condition_kind = REPORTS.name
    method = REPORT
    prompts = (REPORT_PROMPT,)
    grades = Grades.ANY
    takes_rankings = True

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, None, str]]:
        """Yield (topic's key, None, "question's id docid") of all that is not read yet."""
        return ((topic, None, f"{question} {docid}") for topic, question, docid in lacking_pairs(condition, topics))

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the pairs of question and document of each topic, and those that were read."""
        wanted = to_read(condition, topics) if condition.nuggets else {}
        there = read_pairs(condition, wanted)
        states = {}
        for topic in topics:
            one = wanted.get(topic.pk)
            lacking = "bank not finished" if one is None else "" if one.docids else "no documents"
            done = sum(1 for question, docid in there[topic.pk] if one and question in one.questions)
            states[topic.pk] = TopicState(lacking, done, one.pairs if one else 0)
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take. Raises JobError where no topic has questions and documents."""
        wanted = to_read(condition, topics)
        if not any(one.pairs for one in wanted.values()):
            raise JobError("None of the topics has a finished bank and documents.")
        lengths = dict(Segment.objects.filter(campaign=condition.campaign).values_list("docid", Length("text")))
        around = REPORT_PROMPT.request(prompts, question="", passage="").characters
        calls = characters = 0
        for topic, question, docid in lacking_pairs(condition, topics):
            parts = -(-lengths.get(docid, 0) // CHUNK)
            calls += parts
            characters += lengths.get(docid, 0) + parts * (around + len(wanted[topic].questions[question]))
        return Expected(calls, characters, TOKENS_OUT * calls)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the questions and texts of a batch."""
        topics = {unit.topic_id: unit.topic for unit in units}
        wanted = to_read(job.condition, list(topics.values()))
        texts = segment_texts(job.campaign, {_pair(unit)[1] for unit in units})
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            question, docid = _pair(unit)
            one = wanted.get(unit.topic_id)
            if one is None or question not in one.questions:
                prepared[unit.pk] = UnitFailure(f"The bank of {unit.topic.qid} was changed since.")
            elif docid not in texts:
                prepared[unit.pk] = UnitFailure(f"The text of {docid} is not loaded.")
            else:
                prepared[unit.pk] = Work(one.questions[question], chunks(texts[docid]))
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> list[dict[str, Any]]:
        """Ask of one chunk after another what it says."""
        found = []
        for part, chunk in enumerate(work.chunks):
            said = await ask(REPORT_PROMPT.request(ask.prompts, question=work.question, passage=chunk))
            if said:
                found.append({"part": part, **said._asdict()})
        return found

    def store(self, job: Job, results: Sequence[tuple[Unit, list[dict[str, Any]]]]) -> None:
        """Write what was found, and that it was looked for."""
        store_readings(job, [(unit.topic_id, *_pair(unit), found) for unit, found in results])

    def preview_subject(self, unit: Unit) -> PreviewSubject:
        """Return what the request of a unit can be shown by."""
        return super().preview_subject(unit)._replace(docid=_pair(unit)[1])

    def unit_names(self, units: Collection[Unit]) -> Mapping[int, str]:
        """Return the docids."""
        return {unit.pk: _pair(unit)[1] for unit in units}


def _pair(unit: Unit) -> tuple[str, str]:
    question, _, docid = unit.item.partition(" ")
    return question, docid
