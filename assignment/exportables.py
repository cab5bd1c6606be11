"""What can be exported of assignments."""

from collections.abc import Callable, Collection, Iterator
from functools import partial

from django.db.models import QuerySet

from assessor.campaigns.models import Condition, Run, Topic
from assessor.exportables import (
    CSV,
    JSONL,
    LATEX,
    Chosen,
    Exportable,
    Form,
    Order,
    Page,
    always,
    judged_answers,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.work.exposure import Seen
from assignment import paper_tables
from assignment.editions import edition_conditions, score_lines
from assignment.exports import assignment_lines
from assignment.label_kind import ASSIGNMENT, Assignment
from assignment.models import AnswerSheet
from assignment.queries import labelling
from nuggets.inheritance import difference_lines, inherited_conditions

Lines = Callable[[Condition, Collection[Topic] | None, Collection[Run] | None], Iterator[str]]


def _sheets(chosen: Chosen) -> QuerySet[AnswerSheet]:
    return judged_answers(chosen, AnswerSheet)


def labels_seen(chosen: Chosen) -> Seen:
    """Yield the condition whose labels are in a file, with their topics."""
    yield chosen.record, topics_of(_sheets(chosen), "answer__topic")


def _all_seen(kind: Assignment, chosen: Chosen) -> Seen:
    """Yield the first condition with a model's labels, or any, and the same of nuggets: each kind is recorded once."""
    conditions = paper_tables.compared(kind, chosen.campaign)
    topics = topics_of(paper_tables.judged(conditions, chosen.topics, chosen.runs), "answer__topic")
    labels = sorted(conditions, key=lambda one: not one.is_a_models)[:1]
    nuggets = sorted(conditions, key=lambda one: (one.nuggets or one).is_peoples)[:1]
    for condition in {one.pk: one for one in (*labels, *nuggets)}.values():
        yield condition, topics


def of_answers(kind: Assignment, name: str, title: str, lines: Lines, by_answer: str) -> tuple[Exportable, Exportable]:
    """Return what is exported of a kind in which nuggets of answers are labelled.

    name, title: of the labels of a condition; lines: returns them; by_answer: the title of those of all, side by side.
    """
    return (
        Exportable(
            name,
            title,
            JSONL,
            lambda it: lines(it.record, it.topics, it.runs),
            lambda it: _sheets(it).count(),
            Order.LABELS,
            of_conditions(f"{kind.name} condition", partial(labelling, kind)),
            filters=("topics", "runs"),
            of_labels=always,
            shows=labels_seen,
            remark=lambda condition: f"of the {kind.items} of {condition.nuggets}",
            frozen=only_of(kind.name),
            in_admin=title.lower(),
            freezes=("jsonl",),
            releases=("jsonl",),
        ),
        Exportable(
            kind.labels_export,
            by_answer,
            CSV | LATEX,
            lambda it: paper_tables.by_answer(kind, it.campaign, it.topics, it.runs, it.form),
            lambda it: paper_tables.judged(paper_tables.compared(kind, it.campaign), it.topics, it.runs).count(),
            Order.REPORTS,
            filters=("topics", "runs"),
            of_labels=always,
            shows=partial(_all_seen, kind),
            is_there=lambda campaign: paper_tables.judged(paper_tables.compared(kind, campaign)).exists(),
        ),
    )


def _editions_seen(chosen: Chosen) -> Seen:
    """Yield the inherited nuggets, and the conditions that label them, with their topics."""
    yield chosen.record, topics_of(chosen.record.draftings.all(), "topic")
    for condition in edition_conditions(chosen.record):
        yield condition, topics_of(AnswerSheet.objects.filter(condition__in=condition.label_sources), "answer__topic")


EXPORTABLES = (
    *of_answers(
        ASSIGNMENT,
        "assignments",
        "Assignments",
        assignment_lines,
        "Labels of each answer under all conditions, side by side",
    ),
    Exportable(
        "editions",
        "A former edition's nuggets and this one's: what changed, and scores by those that both have",
        {"changes": Form("Changes", "changes.csv", heads=1), "scores": Form("Scores", "scores.csv", heads=1)},
        lambda it: (difference_lines if it.form == "changes" else score_lines)(it.record),
        lambda it: it.record.draftings.count(),
        Order.REPORTS,
        of_conditions("condition in which people edit a former edition's nuggets", inherited_conditions),
        label="Former edition and this one",
        of_labels=always,
        shows=_editions_seen,
        page=Page("editions_file", "editions/<int:condition_id>/files/<str:form>"),
    ),
)
