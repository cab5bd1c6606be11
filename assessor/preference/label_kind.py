"""All that differs where labels say which of two answers is better."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from assessor.labels.label_kind import LabelKind

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model

    from assessor.campaigns.models import Campaign, Condition, Topic
    from assessor.exportables import Chosen
    from assessor.labels.api import ApiList
    from assessor.labels.cutoff import Cell
    from assessor.labels.flags import Asked, Place, Reading
    from assessor.preference.models import PreferencePair
    from assessor.preference.scores import PreferenceScoring
    from assessor.scores.loading import Labels


MANUAL, AUTO = "ManualPreference", "PrefJudge"


class Preference(LabelKind):
    """Two answers to a topic. Labels are texts: as a label, the number 0 would be none."""

    name = "preference"
    title = "Preferences"
    instruction = "Say which of two answers is better."
    item = "pair"
    item_heading = "Pair"
    counted = "pairs"
    done = "compared"
    job = AUTO
    blind_method = MANUAL
    peoples_methods = (MANUAL,)
    methods = (MANUAL, AUTO)
    labels = ("1", "0", "2")  # from the first answer to the second
    is_in_every_study = False
    has_screen = False

    @property
    def scored(self) -> type[PreferencePair]:
        from assessor.preference.models import PreferencePair

        return PreferencePair

    def scoring(self) -> PreferenceScoring:
        from assessor.preference.scores import PreferenceScoring

        return PreferenceScoring()

    def run_marks(self, condition: Condition) -> Mapping[str, str]:
        from assessor.preference.pool import run_marks

        return run_marks(condition)

    def has_work(self) -> Q:
        from assessor.preference.models import LabelEvent

        return Q(Exists(LabelEvent.objects.filter(pair__topic=OuterRef("pk"))))

    def api_list(self) -> ApiList:
        from assessor.preference.api import PREFERENCE_LIST

        return PREFERENCE_LIST

    def labels_on(self, topic: Topic, condition: Condition) -> Labels:
        from assessor.preference.scores import load_with_labels

        return load_with_labels(condition, topic.pk)[1]

    def item_texts(self, items: Collection[int]) -> dict[int, str]:
        """Return which run's answer each is that another one is compared with."""
        from assessor.campaigns.models import Answer

        tags = Answer.objects.filter(pk__in=items).values_list("pk", "run__tag")
        return {pk: f"compared with {tag}" for pk, tag in tags}

    def sheets_with(self, condition: Condition, things: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Return nothing: a pair is no judged answer, and has no page of its own."""
        return {}

    # Nobody asks anything of pairs while people have no screen for them.

    def open_questions(self, campaign: Campaign) -> Iterator[Asked]:
        return iter(())

    def described(self, places: Sequence[Place]) -> Mapping[Place, tuple[str, str]]:
        return {}

    def readings(self, campaign: Campaign, places: Sequence[Place]) -> Mapping[Place, Reading]:
        return {}

    def archived(self) -> Mapping[type[Model], str]:
        from assessor.preference.models import LabelEvent, PreferencePair

        return {PreferencePair: "condition", LabelEvent: "pair"}

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from assessor.preference.cutoff import cells_of_pairs

        return cells_of_pairs(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import by_topic
        from assessor.preference.models import PreferencePair
        from assessor.preference.queries import LACKING

        pairs = PreferencePair.objects.filter(condition=condition)
        if not pairs.filter(topic__is_practice=False).exists():
            yield "Nothing is compared yet."
        if condition.method != condition.IMPORTED:
            yield from by_topic(pairs.filter(LACKING), "pair has no preference", "pairs have no preference")


PREFERENCE = Preference()
