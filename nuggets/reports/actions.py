"""The writers of what was found for reports, and of the runs that are put together of it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Condition, Run, Topic
from assessor.campaigns.report_length import report_limit
from assessor.formats.values import to_json
from assessor.imports.made_files import NotImported, declare_control_run, free_tag, import_lines
from assessor.llm.models import Job
from nuggets.reports.assembly import ReportSentence, assemble
from nuggets.reports.models import Reading, Report
from nuggets.reports.queries import MOST_DOCUMENTS, ToRead, found_for, read_pairs, to_read

_PREFIX = "crucible"


class ReportError(Exception):
    """There can be no such report; the text says why, and what to do."""


class Written(NamedTuple):
    """A run that was written. answers: how many; left_out: the topics that are not read to the end."""

    tag: str
    answers: int
    left_out: list[str]


def store_readings(job: Job, readings: Sequence[tuple[int, str, str, list[dict[str, Any]]]]) -> None:
    """Write what was found on topics, by key, for a question in a document. What was read already stays as it is."""
    there = read_pairs(job.condition, {topic for topic, *_ in readings})
    new = [
        Reading(condition=job.condition, topic_id=topic, question=question, docid=docid, found=found, job=job)
        for topic, question, docid, found in readings
        if (question, docid) not in there[topic]
    ]
    Reading.objects.bulk_create(new)


def write_report(*, reports: Condition, text: str, per_question: int, acting_user: Person | None) -> Written:
    """Put a report on each topic together, and take them in as a run. Raises ReportError.

    text: one of Report.Text. Topics on which something is not read yet are left out.
    """
    topics = {topic.pk: topic for topic in reports.campaign.topics.all()}
    wanted = {pk: one for pk, one in to_read(reports, list(topics.values())).items() if one.pairs}
    there = read_pairs(reports, wanted)
    whole = {pk: one for pk, one in wanted.items() if _is_read(one, there[pk])}
    if not whole:
        raise ReportError(f"No topic is read to the end under {reports}: let its job end first.")
    editions = dict(sorted((topics[pk].qid, one.edition) for pk, one in whole.items()))
    with transaction.atomic():
        # Locked, so that nobody takes the same tag meanwhile.
        Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=reports.pk)
        same = Report.objects.filter(condition=reports, text=text, per_question=per_question, editions=editions)
        if known := same.filter(tag__in=reports.campaign.runs.values("tag")).first():
            raise ReportError(f"{known} is this report: nothing that it is made of has changed since.")
        tag = _new_tag(reports, text)
        report = Report.objects.create(
            condition=reports, tag=tag, text=text, per_question=per_question, editions=editions, person=acting_user
        )
        told = {"text": text, "per_question": per_question, "topics": len(editions)}
        history.record("report written", report, campaign=reports.campaign, person=acting_user, **told)
    try:
        # What is written from a bank enters no table of systems unless somebody says so.
        declare_control_run(reports.campaign, tag, "", acting_user)
        lines = _lines(report, [(topics[pk], one) for pk, one in whole.items()])
        import_lines(reports.campaign, "runs", f"{tag}.jsonl", lines, acting_user)
    except NotImported as error:
        raise ReportError(str(error)) from error
    return Written(tag, len(whole), sorted(topics[pk].qid for pk in wanted.keys() - whole.keys()))


def _is_read(one: ToRead, there: set[tuple[str, str]]) -> bool:
    return all((question, docid) in there for question in one.questions for docid in one.docids)


def _new_tag(reports: Condition, text: str) -> str:
    """Return the tag of a new run: "crucible.Report-by-gpt.extractive", or with a number where there is such a run."""
    taken = set(Report.objects.filter(condition__campaign=reports.campaign).values_list("tag", flat=True))
    return free_tag(reports.campaign, f"{_PREFIX}.{'-'.join(reports.name.split())}.{text}", taken)


def _lines(report: Report, topics: Sequence[tuple[Topic, ToRead]]) -> Iterator[str]:
    """Yield a line in the form of RAGTIME for each topic, by its id."""
    condition = report.condition
    for topic, one in sorted(topics, key=lambda pair: pair[0].qid.encode()):
        sentences = assemble(
            list(one.questions),
            found_for(condition, topic.pk, one),
            per_question=report.per_question,
            limit=report_limit(topic, condition.protocol),
            is_extractive=report.text == Report.Text.EXTRACTIVE,
        )
        yield to_json(_record(report, topic, one, sentences)) + "\n"


def _record(report: Report, topic: Topic, one: ToRead, sentences: Sequence[ReportSentence]) -> dict[str, Any]:
    condition = report.condition
    run = condition.retrieval_run
    made_from = {
        "questions": str(condition.nuggets),
        "edition": one.edition,
        "judge": str(condition.judge),
        "prompts": condition.short_prompts,
        "documents": f"first {MOST_DOCUMENTS} of {run}" if run else str(condition.qrels_source),
        "text": report.text,
        "per_question": report.per_question,
    }
    if condition.is_rehearsed:
        made_from["is_rehearsal"] = True
    responses = [
        {"text": sentence.text, "citations": {sentence.found.docid: sentence.found.confidence}}
        for sentence in sentences
    ]
    names = {"run_id": report.tag, "topic_id": topic.qid, "type": Run.Type.AUTOMATIC.value}
    return {
        "metadata": {**names, "made_from": made_from},
        "responses": responses,
        "references": list(dict.fromkeys(sentence.found.docid for sentence in sentences)),
    }
