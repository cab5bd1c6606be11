"""All that differs where labels say which nuggets an answer contains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_noop

from assessor.campaigns.condition_kind import Section, kind_of
from assessor.labels.label_kind import LabelKind
from assignment.formats import LABELS

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from assessor.campaigns.condition_kind import Lacking
    from assessor.campaigns.models import Answer, Campaign, Condition, Sentence, Topic
    from assessor.labels.api import ApiList
    from assessor.labels.flags import Question
    from assessor.labels.label_history import Step
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.scores.loading import Labels
    from assessor.studies.models import SampledItem
    from assessor.work.judging_pool import Moved
    from assessor.work.models import Task
    from assignment.forms import LabellingFields
    from assignment.models import AnswerSheet, LabelEvent, LeftOut
    from assignment.score_tables import NuggetScoring
    from assignment.studies import NuggetSampling
    from nuggets.models import BankEdition, NuggetBank


MANUAL, AUTO = "ManualAssign", "AutoAssign"


class Choice(NamedTuple):
    """A label on the screen: its key, its sign and short name on the button, and what it means, in the list of keys."""

    label: str
    key: str
    sign: str
    name: str
    meaning: object  # a word or a sentence that is translated


def screen_keys(choices: Sequence[Choice], item: str) -> dict[str, str]:
    """Return the keys of a screen with these choices."""
    return {
        **{choice.key: choice.label for choice in choices},
        "j": f"next {item}",
        "k": f"{item} before",
        "u": gettext_noop("undo"),
        "f": gettext_noop("flag"),
        "x": gettext_noop("can't judge"),
        "[": gettext_noop("sentence before"),
        "]": gettext_noop("next sentence"),
        "m": gettext_noop("mark"),
        "o": gettext_noop("across answers"),
        "p": gettext_noop("answer before"),
        "n": gettext_noop("answer after"),
        "l": gettext_noop("later"),
        "s": gettext_noop("sign off"),
    }


class Assignment(LabelKind):
    """A nugget in an answer.

    Other kinds in which nuggets of answers are labelled inherit from it. They share its models, so what goes by these
    and not by conditions is for this one alone: archived(), on_bank_finished() and on_answers_changed().
    """

    name = gettext_noop("assignment")
    title = gettext_noop("Nugget assignment")
    instruction = gettext_noop("Say of each nugget how far an answer contains it.")
    item = gettext_noop("nugget")
    item_heading = gettext_noop("Nugget")
    batch_setting = "assign_batch"
    counted = gettext_noop("answers")
    done = "assigned"
    job = "AutoAssign"
    blind_method = MANUAL
    peoples_methods: Sequence[str] = (MANUAL,)
    methods: Sequence[str] = (MANUAL, AUTO)
    builds_on: Sequence[str] = ("nuggets",)
    takes_invalid_labels = True
    questions_page = "assignment_questions"
    labels_export = "labels_by_answer"
    labels_nuggets = True
    can_be_rejudged = True
    has_variants = True
    settling = "assignment/_settle.html"
    left_out_template = "assignment/_left_out.html"
    unasked = Q(sheet__by_rule=True)
    labels = tuple(reversed(LABELS))
    choices: Sequence[Choice] = tuple(
        Choice(label, key, sign, name, label)
        for label, key, sign, name in zip(LABELS, "123", "✓◐\u2013", ("support", "partial", "not"), strict=True)
    )
    keys = screen_keys(choices, item)

    @property
    def empty_label(self) -> str:
        """What an empty answer gets for every nugget, by rule."""
        return self.labels[0]

    def prepare(self, task: Task) -> None:
        from assignment.actions import prepare_sheets

        prepare_sheets(task)

    def renew(self, task: Task) -> None:
        from assignment.actions import renew_sheets

        renew_sheets(task)

    def url(self, task: Task) -> str:
        """Return the address of the screen, which all kinds that inherit from this one have in common."""
        return reverse("assignment", args=[task.pk])

    def closed(self, condition: Condition) -> str | None:
        """People assign nuggets under conditions made for it."""
        from assessor.labels.manual_setups import not_for_people

        return not_for_people(condition)

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """People assign the nuggets of finished banks."""
        from nuggets.queries import lacking_banks

        return lacking_banks(condition, topics)

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        from assignment.practice import practice_items

        return practice_items(tasks, against)

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        from assessor.labels.practice import groups_of_answers

        return groups_of_answers(of_answers)

    def has_work(self) -> Q:
        from assignment.models import LabelEvent

        events = LabelEvent.objects.filter(sheet__condition__kind=self.name, judge__isnull=False)
        return Q(Exists(events.filter(sheet__answer__topic=OuterRef("pk"))))

    @property
    def sheets(self) -> type[AnswerSheet]:
        from assignment.models import AnswerSheet

        return AnswerSheet

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from assignment.actions import follow_scope

        return follow_scope(condition, topic)

    def scoring(self) -> NuggetScoring:
        from assignment.score_tables import NuggetScoring

        return NuggetScoring()

    def sampling(self) -> NuggetSampling:
        from assignment.studies import NuggetSampling

        return NuggetSampling(self)

    def left_out(self, campaign: Campaign) -> set[tuple[int, str]]:
        from assignment.queries import left_out_in

        return left_out_in(self, campaign)

    def left_out_records(self, campaign: Campaign) -> Sequence[LeftOut]:
        from assignment.queries import left_out_records

        return left_out_records(self, campaign)

    def texts_of(self, questions: Sequence[Question]) -> list[str]:
        from assignment.queries import with_texts

        return [text for _, text in with_texts(questions)]

    def labels_on(self, topic: Topic, condition: Condition) -> Labels:
        return self.scoring().load_with_labels(condition, topic.pk)[1]

    def item_texts(self, items: Collection[int]) -> dict[int, str]:
        from nuggets.models import Nugget

        return {pk: nugget.text for pk, nugget in Nugget.objects.in_bulk(items).items()}

    def sheets_with(self, condition: Condition, things: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
        from assignment.queries import sheets_with

        return sheets_with(condition, things)

    def aided_labels(self, condition: Condition) -> set[tuple[int, int]]:
        from assignment.queries import aided_labels

        return aided_labels(condition)

    def scored_editions(self, condition: Condition, topic: int | None = None) -> list[BankEdition]:
        from assignment.queries import scored_editions

        return scored_editions(condition, topic)

    def has_item(self, sheet: AnswerSheet, item: str) -> bool:
        return any(str(nugget) == item for nugget in sheet.bank.nuggets.values_list("pk", flat=True))

    def waiting_for_a_model(self, campaign: Campaign) -> Mapping[int, int]:
        from assignment.shown_labels import waiting_for_a_model

        return waiting_for_a_model(self, campaign) if self.post_edited_method else {}

    def item_history(self, sheet: AnswerSheet, item: str) -> tuple[str, Iterable[Step]]:
        from assignment.item_history import item_history

        return item_history(sheet, item)

    def sampled_as(self, sheet: AnswerSheet, item: str) -> QuerySet[SampledItem]:
        from assignment.item_history import sampled_as

        return sampled_as(sheet, item)

    def event_note(self, event: LabelEvent) -> str:
        return f"; edition {event.edition} of the bank"

    def condition_fields(self, campaign: Campaign) -> LabellingFields:
        from assignment.forms import AssignmentFields

        return AssignmentFields(campaign)

    def runs_section(self, campaign: Campaign) -> Section | None:
        from assignment.forms import ControlForm

        has_nuggets = campaign.conditions.filter(kind__in=self.builds_on).exists()
        if not has_nuggets:
            return None
        return Section("assignment/_control_runs.html", ControlForm(campaign), "controls", "Add control runs")

    def api_list(self) -> ApiList:
        from assignment.api import ASSIGNMENT_LIST

        return ASSIGNMENT_LIST

    def archived(self) -> Mapping[type[Model], str]:
        from assignment.models import AnswerSheet, Assignment, LabelEvent, LeftOut

        return {AnswerSheet: "condition", Assignment: "sheet", LabelEvent: "sheet", LeftOut: "condition"}

    def reopened(self, condition: Condition) -> Iterator[str]:
        from assignment.queries import reopened_banks

        return reopened_banks(condition)

    def on_bank_finished(self, bank: NuggetBank) -> None:
        from assignment.actions import follow_edition

        follow_edition(bank)

    def on_answers_changed(self, answers: Mapping[Answer, Sequence[Sentence]]) -> None:
        from assignment.actions import follow_sentences

        follow_sentences(answers)


ASSIGNMENT = Assignment()


def kind_of_nuggets(record: Condition | Task) -> Assignment:
    """Return the kind of a condition under which nuggets of answers are labelled, or of a task of it."""
    kind = kind_of(record)
    assert isinstance(kind, Assignment), "only such conditions have answer sheets"
    return kind
