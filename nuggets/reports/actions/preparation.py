"""Conditions under which people edit what a model found for reports, and reports for them to edit."""

from uuid import uuid4

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.models import Condition
from assessor.work.actions import PlanError
from assessor.work.models import Task
from nuggets.reports.assembly import by_confidence
from nuggets.reports.condition_kind import EDITS, REPORT
from nuggets.reports.models import EditedReport, EditedSentence
from nuggets.reports.queries import found_for, ready_to_edit

MOST_CANDIDATES = 20  # of a question; of more, these are the most confident


def create_edited_reports(*, drafts: Condition, name: str, acting_user: Person | None) -> Condition:
    """Make a condition in which people edit what a model found under another one. Raises ConditionError."""
    if drafts.method != REPORT:
        raise ConditionError(f"Under {drafts} no model reads documents for reports: choose another condition.")
    condition = Condition(
        campaign=drafts.campaign,
        name=name,
        kind=drafts.kind,
        method=EDITS,
        nuggets=drafts.nuggets,
        qrels_source=drafts.qrels_source,
        min_relevant_grade=drafts.min_relevant_grade,
        retrieval_run=drafts.retrieval_run,
        shown=drafts,
    )
    return create_condition(condition, acting_user=acting_user, protocol=drafts.protocol)


def prepare_report(task: Task) -> None:
    """Make the report that a task's person will edit, with what the model found. Raises PlanError."""
    drafts = task.condition.shown
    assert drafts is not None, "edited reports have drafts"
    one = ready_to_edit(drafts, [task.topic]).get(task.topic_id)
    if one is None:
        raise PlanError(f"Not all documents of {task.topic.qid} are read under {drafts}: let its job end first.")
    report = EditedReport.objects.create(
        condition=task.condition, topic=task.topic, task=task, bank_edition=one.edition
    )
    found = found_for(drafts, task.topic_id, one)
    EditedSentence.objects.bulk_create(
        EditedSentence(
            report=report,
            uid=uuid4(),
            question=question,
            docid=candidate.docid,
            part=candidate.part,
            confidence=candidate.confidence,
            extracted=candidate.extracted,
            draft=candidate.condensed,
            text=candidate.condensed,
        )
        for question in one.questions
        for candidate in by_confidence(found.get(question, ()))[:MOST_CANDIDATES]
    )
    # The person has saved nothing yet: who works on another topic continues there.
    Task.objects.filter(pk=task.pk).update(total=report.count_to_do(), worked_at=None)
