"""All that differs where labels say how far a cited passage supports a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assessor.labels.label_kind import LabelKind
from support.citations import LABELS

if TYPE_CHECKING:
    from assessor.collection.models import Condition, Topic
    from assessor.work.models import Task
    from assessor.work.scope import Moved
    from support.models import SupportSheet
    from support.studies import CitationSampling
    from support.tables import SupportScoring


class Support(LabelKind):
    """A citation of a sentence of an answer."""

    name = "support"
    title = "Support"
    instruction = "Say of each citation how far its passage supports the sentence."
    items = counted = "citations"
    job = "Support"
    blind_method = "support from scratch"
    labels = tuple(reversed(LABELS))

    def prepare(self, task: Task) -> None:
        from support.actions import prepare_sheets

        prepare_sheets(task)

    def renew(self, task: Task) -> None:
        from support.actions import renew_sheets

        renew_sheets(task)

    def closed(self, condition: Condition) -> str | None:
        """People judge under conditions made for it."""
        from assessor.labels.models import ManualSetup

        if not ManualSetup.objects.filter(condition=condition).exists():
            return f"Nobody can be given {condition.name}: its labels are not given by people here."
        return None

    @property
    def sheets(self) -> type[SupportSheet]:
        from support.models import SupportSheet

        return SupportSheet

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from support.actions import follow_scope

        return follow_scope(condition, topic)

    def scoring(self) -> SupportScoring:
        from support.tables import SupportScoring

        return SupportScoring()

    def sampling(self) -> CitationSampling:
        from support.studies import CitationSampling

        return CitationSampling()


SUPPORT = Support()
