"""All that differs where labels say which of two answers is better."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_noop

from assessor.labels.label_kind import LabelKind

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model, QuerySet

    from assessor.campaigns.models import Answer, Campaign, Condition, Topic
    from assessor.exportables import Chosen
    from assessor.labels.api import ApiList
    from assessor.labels.cutoff import Cell
    from assessor.labels.flags import Asked, Place, Reading
    from assessor.labels.given_labels import LabelPaths
    from assessor.labels.label_history import Step
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.preference.forms import PreferenceFields
    from assessor.preference.models import LabelEvent, PreferencePair
    from assessor.preference.scores import PreferenceScoring
    from assessor.scores.loading import Labels
    from assessor.studies.models import SampledItem
    from assessor.work.judging_pool import Moved
    from assessor.work.models import Reply, Task


MANUAL, AUTO = "ManualPreference", "PrefJudge"


class Preference(LabelKind):
    """Two answers to a topic. Labels are texts: as a label, the number 0 would be none."""

    name = gettext_noop("preference")
    title = gettext_noop("Preferences")
    instruction = gettext_noop("Say which of two answers is better.")
    item = gettext_noop("pair")
    item_heading = gettext_noop("Pair")
    counted = gettext_noop("pairs")
    done = "compared"
    job = AUTO
    questions_page = "preference_questions"
    settling = "preference/_settle.html"
    blind_method = MANUAL
    peoples_methods = (MANUAL,)
    methods = (MANUAL, AUTO)
    labels = ("1", "0", "2")  # from the first answer to the second
    is_graded = False
    unasked = Q(by_rule=True)
    is_in_every_study = False
    can_be_repeated = True
    can_drop_runs = True
    text_name = gettext_noop("pair")
    keys = {
        "1": gettext_noop("answer 1 is better"),
        "2": gettext_noop("answer 2 is better"),
        "0": gettext_noop("neither is better"),
        "j": gettext_noop("next pair"),
        "k": gettext_noop("pair before"),
        "u": gettext_noop("undo"),
        "f": gettext_noop("flag"),
        "x": gettext_noop("can't judge"),
        "l": gettext_noop("later"),
        "s": gettext_noop("sign off"),
    }

    def prepare(self, task: Task) -> None:
        from assessor.preference.actions import prepare_pairs

        prepare_pairs(task)

    def renew(self, task: Task) -> None:
        from assessor.preference.actions import renew_pairs

        renew_pairs(task)

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from assessor.preference.actions import follow_scope

        return follow_scope(condition, topic)

    def closed(self, condition: Condition) -> str | None:
        """People compare under conditions made for it."""
        from assessor.labels.manual_setups import not_for_people

        return not_for_people(condition)

    def condition_fields(self, campaign: Campaign) -> PreferenceFields:
        from assessor.preference.forms import PreferenceFields

        return PreferenceFields(campaign)

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        from assessor.preference.practice import practice_items

        return practice_items(tasks, against)

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        from assessor.preference.practice import practice_groups

        return practice_groups(task, of_answers)

    @property
    def scored(self) -> type[PreferencePair]:
        from assessor.preference.models import PreferencePair

        return PreferencePair

    def scoring(self) -> PreferenceScoring:
        from assessor.preference.scores import PreferenceScoring

        return PreferenceScoring()

    def in_scope(self, records: QuerySet[Any]) -> QuerySet[Any]:
        from assessor.preference.queries import in_scope

        return in_scope(records)

    def run_marks(self, condition: Condition) -> Mapping[str, str]:
        from assessor.preference.pool import run_marks

        return run_marks(condition)

    def has_work(self) -> Q:
        from assessor.preference.models import LabelEvent

        return Q(Exists(LabelEvent.objects.filter(pair__topic=OuterRef("pk"))))

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        from assessor.preference.models import LabelEvent, PreferencePair

        events = LabelEvent.objects.filter(pair__condition=condition, judge__isnull=False)
        return PreferencePair.objects.filter(condition=condition, value__isnull=False), events

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
        """Return the keys of the pairs, by their answers': the second is the item."""
        from assessor.preference.models import PreferencePair

        own = PreferencePair.objects.filter(condition=condition, first__in={first for first, _ in things})
        return {(first, second): pk for pk, first, second in own.values_list("pk", "first", "second")}

    def with_history(self, campaign: Campaign) -> QuerySet[PreferencePair]:
        from assessor.preference.models import PreferencePair

        pairs: QuerySet[PreferencePair] = PreferencePair.objects.filter(condition__campaign=campaign)
        return pairs

    def item_key(self, sheet: PreferencePair, item: str) -> str | None:
        """Return the key of a pair's one item, which comparisons name by the second answer."""
        return sheet.item if item in (sheet.item, str(sheet.second_id)) else None

    def item_history(self, sheet: PreferencePair, item: str) -> tuple[str, Iterable[Step]]:
        first, second = (answer.run.tag for answer in sheet.answers)
        return f"1: {first}, or 2: {second}; 0: neither", ()

    def sampled_as(self, sheet: PreferencePair, item: str) -> QuerySet[SampledItem]:
        from assessor.studies.models import SampledItem

        return SampledItem.objects.none()

    def event_note(self, event: LabelEvent) -> str:
        """Return what was said in terms of what was shown, where that is the other way round."""
        given = ", ".join(filter(None, (event.verdict, event.reversed_verdict)))
        return f"; shown as answers 1 and 2: {given}" if given else ""

    def open_questions(self, campaign: Campaign) -> Iterator[Asked]:
        from assessor.preference.questions import open_questions

        return open_questions(campaign)

    def described(self, places: Sequence[Place]) -> Mapping[Place, tuple[str, str]]:
        from assessor.preference.questions import described

        return described(places)

    def readings(self, campaign: Campaign, places: Sequence[Place]) -> Mapping[Place, Reading]:
        from assessor.preference.questions import readings

        return readings(places)

    def name_in_reply(self, sheet: int, item: str) -> tuple[Answer | None, str]:
        """Return the pair's place: with the task's condition and topic it names it."""
        return None, item

    def places_of(self, replies: Sequence[Reply]) -> Mapping[int, Place]:
        from assessor.preference.questions import places_of

        return places_of(replies)

    def archived(self) -> Mapping[type[Model], str]:
        from assessor.preference.models import LabelEvent, PreferencePair

        return {PreferencePair: "condition", LabelEvent: "pair"}

    def label_paths(self) -> LabelPaths:
        from assessor.labels.given_labels import LabelPaths
        from assessor.preference.models import PreferencePair

        return LabelPaths(PreferencePair, "condition", "topic", "task", ("first", "second"), ())

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from assessor.preference.cutoff import cells_of_pairs

        return cells_of_pairs(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import by_topic
        from assessor.labels.manual_setups import is_part
        from assessor.preference.models import PreferencePair
        from assessor.preference.queries import LACKING, in_scope

        pairs = in_scope(PreferencePair.objects.filter(condition=condition))
        if not pairs.filter(topic__is_practice=False).exists():
            yield "Nothing is compared yet."
        if condition.method != condition.IMPORTED:
            yield from by_topic(pairs.filter(LACKING), "pair has no preference", "pairs have no preference")
        if is_part(condition):
            yield "Only a part of the pairs is compared again, so answers have no scores."


PREFERENCE = Preference()
