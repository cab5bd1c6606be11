"""All that differs where labels say which nuggets an answer contains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assessor.collection.condition_kinds import Lacking
from assessor.labels.label_kind import LabelKind
from assignment.formats import LABELS

if TYPE_CHECKING:
    from assessor.collection.models import Condition, Topic
    from assessor.work.models import Task
    from assessor.work.scope import Moved
    from assignment.models import AnswerSheet
    from assignment.studies import NuggetSampling
    from assignment.tables import NuggetScoring


class Assignment(LabelKind):
    """A nugget in an answer."""

    name = "assignment"
    title = "Nugget assignment"
    instruction = "Say of each nugget how far an answer contains it."
    items = "nuggets"
    counted = "answers"
    job = "AutoAssign"
    blind_method = "ManualAssign"
    labels = tuple(reversed(LABELS))

    def prepare(self, task: Task) -> None:
        from assignment.actions import prepare_sheets

        prepare_sheets(task)

    def renew(self, task: Task) -> None:
        from assignment.actions import renew_sheets

        renew_sheets(task)

    def closed(self, condition: Condition) -> str | None:
        """People assign nuggets under conditions made for it."""
        from assessor.labels.models import ManualSetup

        if condition.nuggets is None or not ManualSetup.objects.filter(condition=condition).exists():
            return f"Nobody can be given {condition.name}: its labels are not given by people here."
        return None

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """People assign the nuggets of finished banks."""
        from assignment.queries import finished_banks

        assert condition.nuggets is not None, "an assignment condition has one of nuggets"
        found = {topic.pk for topic in topics} - set(finished_banks(condition.nuggets, topics))
        return Lacking(found, lambda qids: f"The nuggets of {qids} under {condition.nuggets} are not finished.")

    @property
    def sheets(self) -> type[AnswerSheet]:
        from assignment.models import AnswerSheet

        return AnswerSheet

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from assignment.actions import follow_scope

        return follow_scope(condition, topic)

    def scoring(self) -> NuggetScoring:
        from assignment.tables import NuggetScoring

        return NuggetScoring()

    def sampling(self) -> NuggetSampling:
        from assignment.studies import NuggetSampling

        return NuggetSampling()


ASSIGNMENT = Assignment()
