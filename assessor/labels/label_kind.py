"""What all kinds of label have to say of themselves: each label app has one object of it, in its label_kind.py."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from assessor.campaigns.condition_kind import ConditionKind, condition_kinds, kind_named

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model, QuerySet

    from assessor.campaigns.models import Answer, Campaign, Condition, Topic
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell
    from assessor.labels.flags import Asked, Place, Question, Reading
    from assessor.labels.given_labels import LabelPaths
    from assessor.labels.label_history import Step
    from assessor.scores.loading import Labels
    from assessor.studies.models import SampledItem
    from assessor.work.models import Reply
    from nuggets.models import BankEdition


NOTHING = Q(pk__in=())


class LabelKind(ConditionKind):
    """A kind of label: its vocabulary, its work on a screen, and how its labels are scored, exported and studied."""

    item: str  # what gets a label: "nugget"
    item_heading: str  # of a table's column of items
    job: str  # the kind of job in which a model gives them
    post_edited_method = ""  # of conditions under which people see a model's label beside the choices; "" for none
    comparison_page = ""  # the name of the address where labels of two conditions are side by side
    questions_page = ""  # the name of the address that leads to a condition's questions
    settling = ""  # the template of the forms that settle a label which a person could not give; "" where nothing does
    labels_export = ""  # the name of the export that has the labels of each answer under all conditions, side by side
    batch_setting = ""  # the protocol's setting of how many items a model labels in a call; "" where that is one
    labels_nuggets = False  # whether its items are nuggets, each of which has one label in an answer
    can_be_rejudged = False  # whether studies can have its labels judged again: Scoring.load_revised() has the scores
    has_variants = False  # whether a model's job can ask its items in batches and orders of a sensitivity study
    is_graded = True  # whether a later one of its labels says more of an item, so that judges can be strict or lenient
    left_out_template = ""  # of what is left out of scores for all runs
    unasked = NOTHING  # what is true of labels that nobody was asked for: given by a rule, or with an equal item
    steps: Mapping[str, str] = {}  # in which its items are judged, with what each is about; none where all are alike

    @property
    def items(self) -> str:
        """What gets a label, in the plural."""
        return f"{self.item}s"

    def conditions(self, campaign: Campaign) -> QuerySet[Any]:
        return super().conditions(campaign).select_related("manual_setup")

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from assessor.labels.cutoff import cells_of_answers

        return cells_of_answers(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import missing_in_answers

        return missing_in_answers(condition, self.reopened(condition))

    def reopened(self, condition: Condition) -> Iterator[str]:
        """Say what of that which a condition's labels are given for is being changed."""
        return iter(())

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        of_condition = {"sheet__in": self.sheets.in_or_out.filter(condition=condition)}
        labels = self.sheets.label_model().in_or_out.filter(**of_condition, value__isnull=False)
        return labels, self.sheets.event_model().objects.filter(**of_condition, judge__isnull=False)

    def label_paths(self) -> LabelPaths:
        """Return by which columns of its labels it is found what they are of."""
        from assessor.labels.given_labels import LabelPaths

        return LabelPaths.of_answers(self.sheets.label_model())

    def state(self, condition: Condition) -> tuple[Any, ...]:
        from assessor.scores.cache import state_of

        return state_of(condition)

    def archived(self) -> Mapping[type[Model], str]:
        """Return its models, each with the column that leads to what a record belongs to; none before that one."""
        raise NotImplementedError

    def job_on(self, condition: Condition) -> str:
        """Return the kind of job in which a model labels what is labelled under a condition."""
        return self.job

    # What people left open

    def open_questions(self, campaign: Campaign) -> Iterator[Asked]:
        """Yield what assessors ask now in a campaign."""
        from assessor.labels.flags import open_on_answers

        return open_on_answers(self, campaign)

    def left_out(self, campaign: Campaign) -> set[tuple[int, str]]:
        """Return which items are left out of scores for all runs: the condition's key, and the item's."""
        return set()

    def left_out_records(self, campaign: Campaign) -> Sequence[Any]:
        """Return what leaves items out of scores for all runs, for left_out_template."""
        return ()

    def described(self, places: Sequence[Place]) -> Mapping[Place, tuple[str, str]]:
        """Return what items are, in words that their assessor may read, and apart the run, which they may not."""
        from assessor.labels.flags import described_on_answers

        return described_on_answers(self.sheets, places, self.texts_of)

    def readings(self, campaign: Campaign, places: Sequence[Place]) -> Mapping[Place, Reading]:
        """Return what an organizer reads to judge items; what has no text is absent."""
        from assessor.labels.flags import read_answers

        return read_answers(self.sheets, places)

    def texts_of(self, questions: Sequence[Question]) -> Iterable[str]:
        """Return what questions are about, in their order."""
        raise NotImplementedError

    def name_in_reply(self, sheet: int, item: str) -> tuple[Answer | None, str]:
        """Return what names an item for ever: the judged answer's, where it is of one, and its name there."""
        from assessor.labels.replies import name_on_answer

        return name_on_answer(self.sheets, sheet, item)

    def places_of(self, replies: Sequence[Reply]) -> Mapping[int, Place]:
        """Return what replies were given on, by reply's key: under the keys that it has now."""
        from assessor.labels.replies import places_on_answers

        return places_on_answers(self.sheets, replies)

    # What comparisons tell of two conditions, where there is no comparison_page

    def labels_on(self, topic: Topic, condition: Condition) -> Labels:
        """Return the labels on a topic that scores come from."""
        raise NotImplementedError

    def item_texts(self, items: Collection[Any]) -> Mapping[Any, str]:
        """Return what items say, by their keys as arrays of labels have them."""
        raise NotImplementedError

    def sheets_with(self, condition: Condition, things: Collection[tuple[int, Any]]) -> Mapping[tuple[int, Any], int]:
        """Return the keys of a condition's judged answers, by what is labelled there: answer's key and item."""
        raise NotImplementedError

    def scored_editions(self, condition: Condition, topic: int | None = None) -> Sequence[BankEdition]:
        """Return the editions of banks whose nuggets scores go by, by topic id, where nuggets are needed.

        topic: this one alone, by key.
        """
        raise NotImplementedError

    def step_of(self, item: Any) -> str:
        """Return which of the steps an item is of, by its key as arrays of labels have it."""
        raise NotImplementedError

    def docids_of(self, condition: Condition, things: Sequence[tuple[int, Any]]) -> list[str]:
        """Return the docids of the passages that labels are about, "" of none; things: owner and item as Labels has."""
        return [""] * len(things)

    def aided_labels(self, condition: Condition) -> Collection[tuple[int, Any]]:
        """Return what has no label that its own judge gave unaided, by owner and item as Labels has them.

        That is another person's or the organizer's label where the judge could give none, one that was given beside a
        model's, and one that was taken over from an equal item. Asked of kinds whose labels are graded.
        """
        raise NotImplementedError

    # Jobs

    def waiting_for_a_model(self, campaign: Campaign) -> Mapping[int, int]:
        """Count by task's key the items that can't be judged because a model gave them no label."""
        return {}

    def place(self, item: str) -> tuple[Any, ...]:
        """Return by what items of an answer are in order, of an item's key."""
        return tuple(map(int, item.split(".")))

    # The way of one label

    def with_history(self, campaign: Campaign) -> QuerySet[Any] | None:
        """Return what is judged here in a campaign, each with a history of its labels; None where nothing has one."""
        if not self.judges_answers:
            return None
        judged: QuerySet[Any] = self.sheets.in_or_out.filter(
            condition__campaign=campaign, condition__kind=self.name, condition__is_control=False
        )
        return judged

    def item_key(self, sheet: Any, item: str) -> str | None:
        """Return the key of an item of what is judged, as an address has it; None for none."""
        return item if self.has_item(sheet, item) else None

    def has_item(self, sheet: Any, item: str) -> bool:
        """Say whether a judged answer is or was about an item of this key."""
        return item in sheet.asked

    def item_history(self, sheet: Any, item: str) -> tuple[str, Iterable[Step]]:
        """Return what an item is, in words, and how it came to be."""
        raise NotImplementedError

    def sampled_as(self, sheet: Any, item: str) -> QuerySet[SampledItem]:
        """Return what studies drew of a judged answer that is this item."""
        raise NotImplementedError

    def event_note(self, event: Any) -> str:
        """Return what its history says of an event besides what changed."""
        return ""

    def code(self, sheet: Any, item: str) -> int | None:
        """Return the place in `labels` of the one that counts: another person's where this one could judge none."""
        label = sheet.labels.get(item) or sheet.adopted.get(item)
        return self.labels.index(label) if label in self.labels else None


def label_kinds() -> list[LabelKind]:
    """Return all kinds of label, in the order of INSTALLED_APPS."""
    return [kind for kind in condition_kinds() if isinstance(kind, LabelKind)]


def label_kind(name: str) -> LabelKind:
    """Return the kind of label of this name. Raises KeyError."""
    kind = kind_named(name)
    if not isinstance(kind, LabelKind):
        raise KeyError(name)
    return kind
