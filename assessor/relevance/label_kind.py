"""All that differs where labels grade the passages of a topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from assessor.campaigns.models.grades import SCALES_HERE
from assessor.labels.label_kind import LabelKind

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model

    from assessor.campaigns.models import Campaign, Condition, Topic
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell
    from assessor.labels.flags import Asked, Place, Reading
    from assessor.labels.given_labels import LabelPaths
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.relevance.forms import RelevanceFields
    from assessor.work.models import Task


FROM_SCRATCH, POST_EDITED, AUTOMATIC = "manual relevance", "relevance post-edited", "UMBRELA"


class Relevance(LabelKind):
    """A passage."""

    name = gettext_noop("relevance")
    title = gettext_noop("Relevance")
    instruction = gettext_noop("Grade how well each passage answers the question.")
    item = gettext_noop("passage")
    counted = gettext_noop("passages")
    done = "graded"
    item_heading = gettext_noop("Passage")
    job = "UMBRELA"
    blind_method = FROM_SCRATCH
    post_edited_method = POST_EDITED
    peoples_methods = (FROM_SCRATCH, POST_EDITED)
    methods = (FROM_SCRATCH, POST_EDITED, AUTOMATIC)
    labels = tuple(str(grade) for grade in range(max(SCALES_HERE) + 1))
    makes_grades = True
    keys = {
        **{grade: f"grade {grade}" for grade in labels},
        "j": gettext_noop("next passage"),
        "k": gettext_noop("passage before"),
        "x": gettext_noop("can't judge"),
        "u": gettext_noop("undo"),
        "n": gettext_noop("next topic"),
    }

    def prepare(self, task: Task) -> None:
        from assessor.relevance.actions import prepare_items

        prepare_items(task)

    def renew(self, task: Task) -> None:
        from assessor.relevance.actions import renew_items

        renew_items(task)

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        from assessor.relevance.queries import pool

        return pool(condition, topics)

    def is_shared(self, condition: Condition) -> bool:
        from assessor.labels.models import ManualSetup

        return ManualSetup.objects.filter(condition=condition, from_queue=True).exists()

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        from assessor.relevance.practice import practice_items

        return practice_items(tasks, against)

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        from assessor.relevance.practice import practice_groups

        return practice_groups(task, of_answers)

    def has_work(self) -> Q:
        from assessor.relevance.models import RelevanceJudgment

        return Q(Exists(RelevanceJudgment.objects.filter(topic=OuterRef("pk"), version__gt=0)))

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        from assessor.relevance.models import RelevanceJudgment

        given = RelevanceJudgment.objects.filter(condition=condition)
        return (given.filter(Q(version__gt=0) | Q(value__isnull=False)),)

    def open_questions(self, campaign: Campaign) -> Iterator[Asked]:
        """Yield passages that nobody could judge; there are no flags."""
        from assessor.labels.flags import Asked
        from assessor.relevance.models import RelevanceJudgment

        found = RelevanceJudgment.objects.filter(task__campaign=campaign, state=RelevanceJudgment.State.UNJUDGEABLE)
        for task, docid, reason, at in found.order_by("pk").values_list("task", "docid", "reason", "at"):
            yield Asked(self.name, task, None, docid, reason, "", "", at)

    def described(self, places: Sequence[Place]) -> Mapping[Place, tuple[str, str]]:
        return {(sheet, docid): (docid, "") for sheet, docid in places}

    def readings(self, campaign: Campaign, places: Sequence[Place]) -> Mapping[Place, Reading]:
        from assessor.labels.flags import reading

        texts = dict(campaign.segments.filter(docid__in={docid for _, docid in places}).values_list("docid", "text"))
        return {(sheet, docid): reading(f"Passage {docid}", texts[docid]) for sheet, docid in places if docid in texts}

    def condition_fields(self, campaign: Campaign) -> RelevanceFields:
        from assessor.relevance.forms import RelevanceFields

        return RelevanceFields(campaign)

    def aided_labels(self, condition: Condition) -> set[tuple[int, str]]:
        from assessor.relevance.queries import aided_labels

        return aided_labels(condition)

    def archived(self) -> Mapping[type[Model], str]:
        from assessor.relevance.models import LabelEvent, RelevanceJudgment

        return {RelevanceJudgment: "condition", LabelEvent: "judgment"}

    def label_paths(self) -> LabelPaths:
        from assessor.labels.given_labels import LabelPaths
        from assessor.relevance.models import RelevanceJudgment

        return LabelPaths(RelevanceJudgment, "condition", "topic", "task", ("topic", "docid"), ())

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from assessor.relevance.cutoff import cells_of_passages

        return cells_of_passages(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import by_topic
        from assessor.relevance.models import RelevanceJudgment
        from assessor.relevance.queries import TO_DO

        passages = RelevanceJudgment.objects.filter(condition=condition)
        yield from by_topic(passages.filter(TO_DO), "passage is not graded", "passages are not graded")
        if not passages.filter(version__gt=0, topic__is_practice=False).exists():
            yield "Nothing is graded yet."

    def state(self, condition: Condition) -> tuple[Any, ...]:
        from assessor.relevance.models import LabelEvent

        events = LabelEvent.objects.filter(judgment__condition=condition)
        return tuple(events.aggregate(Count("pk"), Max("pk")).values())


RELEVANCE = Relevance()
