"""The writers of the runs that are put together of what was found, or of the reports that people signed."""

from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Sum

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Condition, Run, Topic
from assessor.campaigns.report_length import report_limit
from assessor.formats.values import to_json
from assessor.imports.made_files import NotImported, declare_control_run, free_tag, import_lines
from assessor.work.models import Task
from nuggets.reports.assembly import assemble
from nuggets.reports.condition_kind import EDITS
from nuggets.reports.models import EditedReport, EditedSentence, Report
from nuggets.reports.queries import MOST_DOCUMENTS, found_for, ready_to_edit, sentences_in_order, to_read

_PREFIX = "crucible"


class ReportError(Exception):
    """There can be no such report; the text says why, and what to do."""


class Written(NamedTuple):
    """A run that was written. answers: how many; left_out: the topics that are not read to the end, or not signed."""

    tag: str
    answers: int
    left_out: list[str]


class _Made(NamedTuple):
    """A report on a topic.

    edition: of the bank that it is made of; of signed ones how many were signed on the topic. made_from: in words;
    citations: of each sentence.
    """

    topic: Topic
    edition: int
    made_from: dict[str, Any]
    texts: list[str]
    citations: list[dict[str, int] | list[str]]


def write_report(*, reports: Condition, text: str, per_question: int, acting_user: Person | None) -> Written:
    """Put a report on each topic together, and take them in as a run. Raises ReportError.

    text: one of Report.Text; it and per_question say nothing of reports that people signed. Topics on which something
    is not read yet, or that are not signed, are left out.
    """
    is_edited = reports.method == EDITS
    if is_edited:
        text, per_question = Report.Text.EDITED.value, 0
    with transaction.atomic():
        # Locked, so that nobody takes the same tag meanwhile.
        Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=reports.pk)
        made, left_out = _signed(reports) if is_edited else _assembled(reports, text, per_question)
        if not made:
            how = "Nobody has signed a report" if is_edited else "No topic is read to the end"
            raise ReportError(f"{how} under {reports}: {'have one signed' if is_edited else 'let its job end'} first.")
        made.sort(key=lambda one: one.topic.qid.encode())
        editions = {one.topic.qid: one.edition for one in made}
        same = Report.objects.filter(condition=reports, text=text, per_question=per_question, editions=editions)
        if known := same.filter(tag__in=reports.campaign.runs.values("tag")).first():
            raise ReportError(f"{known} is this report: nothing that it is made of has changed since.")
        tag = _new_tag(reports, text)
        report = Report.objects.create(
            condition=reports, tag=tag, text=text, per_question=per_question, editions=editions, person=acting_user
        )
        told = {"text": text, "per_question": per_question, "topics": len(editions)}
        history.record("report written", report, campaign=reports.campaign, person=acting_user, **told)
    by = Run.Type.MANUAL if is_edited else Run.Type.AUTOMATIC
    try:
        # What is written from a bank enters no table of systems unless somebody says so.
        declare_control_run(reports.campaign, tag, "", acting_user, by)
        lines = (to_json(_record(one, tag, by)) + "\n" for one in made)
        import_lines(reports.campaign, "runs", f"{tag}.jsonl", lines, acting_user)
    except NotImported as error:
        raise ReportError(str(error)) from error
    return Written(tag, len(made), left_out)


def _assembled(reports: Condition, text: str, per_question: int) -> tuple[list[_Made], list[str]]:
    """Return the report of each topic that is read to the end, by rule, and the ids of the other topics."""
    topics = {topic.pk: topic for topic in reports.campaign.topics.all()}
    wanted = {pk: one for pk, one in to_read(reports, list(topics.values())).items() if one.pairs}
    whole = ready_to_edit(reports, list(topics.values()))
    made = []
    for pk, one in whole.items():
        sentences = assemble(
            list(one.questions),
            found_for(reports, pk, one),
            per_question=per_question,
            limit=report_limit(topics[pk], reports.protocol),
            is_extractive=text == Report.Text.EXTRACTIVE,
        )
        made_from = _made_from(reports, one.edition.edition, text) | {"per_question": per_question}
        citations: list[Any] = [{sentence.found.docid: sentence.found.confidence} for sentence in sentences]
        made.append(
            _Made(topics[pk], one.edition.edition, made_from, [sentence.text for sentence in sentences], citations)
        )
    return made, sorted(topics[pk].qid for pk in wanted.keys() - whole.keys())


def _signed(reports: Condition) -> tuple[list[_Made], list[str]]:
    """Return the report of each topic that is signed, and the ids of topics whose report is not."""
    of_people = EditedReport.objects.filter(condition=reports).order_by("topic__qid")
    # Locked, so that nobody reopens or signs one meanwhile.
    locked = of_people.select_related("topic", "task__person", "bank_edition", "condition").select_for_update(
        no_key=True, of=("self",)
    )
    found = list(locked.exclude(task__state=Task.State.WITHDRAWN))
    signed = [one for one in found if one.state == EditedReport.State.FINISHED]
    # A topic may have been another person's before, whose report was signed too.
    times = dict(of_people.order_by().values_list("topic").annotate(Sum("edition")))
    made = [_of_person(one, times[one.topic_id]) for one in signed]
    return made, [one.topic.qid for one in found if one not in signed]


def _of_person(report: EditedReport, times: int) -> _Made:
    sentences = sentences_in_order(report)
    made_from = _made_from(report.condition, report.bank_edition.edition, Report.Text.EDITED.value) | {
        "signed": report.edition,
        "annotator": str(judge_of(report.task.person)),
        "sentences": [_lineage(sentence) for sentence in sentences],
    }
    citations: list[Any] = [[sentence.docid] for sentence in sentences]
    return _Made(report.topic, times, made_from, [sentence.text for sentence in sentences], citations)


def _lineage(sentence: EditedSentence) -> dict[str, Any]:
    """Say how a sentence came to be: of a model's, in which part of the document it was found, and as what."""
    told: dict[str, Any] = {"lineage": sentence.lineage, "question": sentence.question}
    if sentence.draft:
        told |= {"part": sentence.part, "confidence": sentence.confidence, "draft": sentence.draft}
    return told


def _made_from(reports: Condition, edition: int, text: str) -> dict[str, Any]:
    """Return what a report is made from, as its run names it."""
    writing, run = reports.shown or reports, reports.retrieval_run
    made_from = {
        "questions": str(reports.nuggets),
        "edition": edition,
        **({"drafts": str(reports.shown)} if reports.shown else {}),
        "judge": str(writing.judge),
        "prompts": writing.short_prompts,
        "documents": f"first {MOST_DOCUMENTS} of {run}" if run else str(reports.qrels_source),
        "text": text,
    }
    if reports.is_rehearsed:
        made_from["is_rehearsal"] = True
    return made_from


def _record(made: _Made, tag: str, by: Run.Type) -> dict[str, Any]:
    """Return a report in the form of RAGTIME."""
    names = {"run_id": tag, "topic_id": made.topic.qid, "type": by.value}
    pairs = zip(made.texts, made.citations, strict=True)
    return {
        "metadata": {**names, "made_from": made.made_from},
        "responses": [{"text": text, "citations": cited} for text, cited in pairs],
        "references": list(dict.fromkeys(docid for cited in made.citations for docid in cited)),
    }


def _new_tag(reports: Condition, text: str) -> str:
    """Return the tag of a new run: "crucible.Report-by-gpt.extractive", or with a number where there is such a run."""
    taken = set(Report.objects.filter(condition__campaign=reports.campaign).values_list("tag", flat=True))
    return free_tag(reports.campaign, f"{_PREFIX}.{'-'.join(reports.name.split())}.{text}", taken)
