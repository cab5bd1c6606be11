"""All that differs where conditions are about nuggets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Max, OuterRef, Q, Sum
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from assessor.campaigns.condition_kind import ConditionKind, Lacking, condition_kinds, kind_of

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from assessor.campaigns.models import Campaign, Condition, Topic
    from assessor.exportables import Chosen
    from assessor.labels.api import ApiList
    from assessor.labels.cutoff import Cell
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.work.models import Task
    from nuggets.forms import NuggetFields
    from nuggets.models import Nugget, NuggetBank
    from nuggets.queries import Finding


MANUAL, AUTO, EDITS = "ManualNuggets", "AutoNuggets", "AutoNuggets+Edits"
INHERITED = "Inherited+Edits"  # the bank of a former edition of the track, which people edit


class Nuggets(ConditionKind):
    """Banks of nuggets, a person's or a model's, one on a topic."""

    name = gettext_noop("nuggets")
    title = gettext_noop("Nuggets")
    instruction = gettext_noop("List the facts that a good answer needs, from the passages.")
    counted = gettext_noop("nuggets")
    done = "written"
    blind_method = MANUAL
    peoples_methods: Sequence[str] = (MANUAL, EDITS, INHERITED)
    methods: Sequence[str] = (MANUAL, AUTO, EDITS, INHERITED)
    drafted_methods: Sequence[str] = (AUTO, EDITS, INHERITED)
    makes_nuggets = True
    thing = gettext_noop("nugget")  # what one is called
    gold: Sequence[Any] | None = None  # the gold answers of a new one; None where a nugget has no such thing
    related = "nugget_bank"
    keys: Mapping[str, str] = {
        "/": gettext_noop("search"),
        "i": gettext_noop("passage before"),
        "p": gettext_noop("next passage"),
        "j": gettext_noop("next nugget; with ⇧ next sentence"),
        "k": gettext_noop("nugget before; with ⇧ sentence before"),
        "h": gettext_noop("have read"),
        "t": gettext_noop("how I read the topic"),
        "y": gettext_noop("keep the draft"),
        "n": gettext_noop("new nugget"),
        "ctrl+1": gettext_noop("the new nugget is vital"),
        "ctrl+2": gettext_noop("the new nugget is okay"),
        "v": "vital",
        "o": "okay",
        "r": gettext_noop("reword"),
        "e": gettext_noop("evidence"),
        "w": gettext_noop("where its evidence is"),
        "c": gettext_noop("note"),
        "x": gettext_noop("choose"),
        "m": gettext_noop("merge"),
        "s": gettext_noop("split"),
        "d": gettext_noop("delete"),
        "l": gettext_noop("to the list"),
        "f": gettext_noop("finish"),
    }

    def in_words(self, condition: Condition) -> str:
        if is_inherited(condition):
            return f"{self.title} {condition.judge} ({condition.maker}), edited by people"
        if condition.edits_drafts:
            return f"{self.title} drafted by {condition.maker}, edited by people"
        return super().in_words(condition)

    def pages(self, condition: Condition) -> Sequence[tuple[str, str]]:
        return [("editions", "Former edition")] if is_inherited(condition) else []

    def start(self, condition: Condition) -> str:
        if is_inherited(condition):
            return gettext("You start from the nuggets of a former edition.")
        return super().start(condition)

    def prepare(self, task: Task) -> None:
        from nuggets.actions import prepare_bank

        prepare_bank(task)

    def url(self, task: Task) -> str:
        return reverse("nugget_editor", args=[task.nugget_bank.pk])

    def closed(self, condition: Condition) -> str | None:
        """People can't write nuggets that a model or a file gives."""
        if condition.method in self.peoples_methods:
            return None
        return f"Nobody can be given {condition.name}: its {self.counted} are not written by people here."

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        from nuggets.queries import relevant_passages

        return relevant_passages(condition, topics)

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """People can't edit drafts that are not there yet."""
        found: set[int] = set()
        if condition.edits_drafts:
            drafted = set(condition.draftings.filter(topic__in=topics).values_list("topic_id", flat=True))
            found = {topic.pk for topic in topics} - drafted
        return Lacking(
            found, lambda qids: f"Under {condition.name} there are no drafts yet on {qids}: have them made first."
        )

    def findings(self, bank: NuggetBank, listed: Sequence[Nugget]) -> list[Finding]:
        """Return what keeps a list from being finished here, besides what does so in every bank."""
        from nuggets.queries import too_many

        return too_many(bank, listed)

    def remarks(self, condition: Condition, listed: Sequence[Nugget]) -> dict[str, int]:
        """Return what somebody who is about to finish may want to look at again, and how often it is there."""
        from nuggets.queries import remarks_on_facts

        return remarks_on_facts(condition, listed)

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        from nuggets.practice import practice_items

        return practice_items(tasks, against)

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        from assessor.labels.practice import groups_of_answers

        return groups_of_answers(of_answers)

    def has_work(self) -> Q:
        from nuggets.models import Drafting, NuggetBank

        banks = NuggetBank.objects.filter(topic=OuterRef("pk"), import_record=None, version__gt=0)
        return Q(Exists(banks)) | Q(Exists(Drafting.objects.filter(topic=OuterRef("pk"))))

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        from nuggets.models import Drafting, Nugget

        return Nugget.objects.filter(bank__condition=condition), Drafting.objects.filter(condition=condition)

    def condition_fields(self, campaign: Campaign) -> NuggetFields | None:
        from nuggets.forms import NuggetFields

        return NuggetFields(campaign)

    def conditions(self, campaign: Campaign) -> QuerySet[Any]:
        from nuggets.queries import finished_counts

        return finished_counts(campaign, self.name)

    def api_list(self) -> ApiList:
        from nuggets.api import NUGGET_LIST

        return NUGGET_LIST

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from nuggets.cutoff import cells_of_banks

        return cells_of_banks(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import by_topic
        from nuggets.models import NuggetBank

        banks = NuggetBank.objects.filter(condition=condition)
        yield from by_topic(banks.filter(state=NuggetBank.State.OPEN), "bank is open", "banks are open")
        if not banks.filter(state=NuggetBank.State.FINISHED, topic__is_practice=False).exists():
            yield "No bank is finished yet."

    def state(self, condition: Condition) -> tuple[Any, ...]:
        from nuggets.models import NuggetBank

        banks = NuggetBank.objects.filter(condition=condition)
        return tuple(banks.aggregate(Count("pk"), Sum("version"), Sum("edition"), Max("pk")).values())


NUGGETS = Nuggets()


def is_inherited(condition: Condition) -> bool:
    """Say whether people edit the nuggets of a former edition there."""
    return condition.method == INHERITED


def edited_methods() -> list[str]:
    """Return the methods under which people edit what a model drafts or a former edition had, of all nuggets."""
    kinds = [kind for kind in condition_kinds() if kind.makes_nuggets]
    return [method for kind in kinds for method in kind.drafted_methods if method in kind.peoples_methods]


def nugget_kind(condition: Condition) -> Nuggets:
    """Return the kind of a condition that makes nuggets."""
    kind = kind_of(condition)
    assert isinstance(kind, Nuggets)
    return kind
