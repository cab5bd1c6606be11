"""All that differs where labels say what the sentences of a report state, and whether what they cite attests them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_noop

from assessor.labels.label_kind import LabelKind
from assignment.argue.vocabulary import LABELS, STEP_TITLES

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from assessor.campaigns.condition_kind import Lacking
    from assessor.campaigns.models import Answer, Campaign, Condition, Run, Sentence, Topic
    from assessor.labels.api import ApiList
    from assessor.labels.flags import Place, Question, Reading
    from assessor.labels.label_history import Step
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.scores.loading import Labels
    from assessor.studies.models import SampledItem
    from assessor.work.judging_pool import Moved
    from assessor.work.models import Task
    from assignment.argue.forms import ArgueFields
    from assignment.argue.models import ArgueSheet, LabelEvent
    from assignment.argue.score_tables import ArgueScoring
    from nuggets.models import BankEdition, NuggetBank


MANUAL, AUTO = "ManualArgue", "AutoArgue"


class Argue(LabelKind):
    """A question to a sentence of a report, with yes or no for an answer."""

    name = gettext_noop("argue")
    title = gettext_noop("Report judgment")
    instruction = gettext_noop("Say of each sentence what its citations attest, and which questions it answers.")
    item = gettext_noop("judgment")
    item_heading = gettext_noop("Sentence and question")
    counted = gettext_noop("reports")
    done = "judged"
    job = AUTO
    blind_method = MANUAL
    peoples_methods = (MANUAL,)
    methods = (MANUAL, AUTO)
    builds_on = ("questions",)
    questions_page = "argue_questions"
    settling = "argue/_settle.html"
    text_name = gettext_noop("report")
    labels = LABELS
    steps = STEP_TITLES
    is_in_every_study = False
    keys = {
        "y": gettext_noop("yes"),
        "n": gettext_noop("no"),
        "c": gettext_noop("needs a citation"),
        "r": gettext_noop("said before"),
        **{str(number): f"answer {number}" for number in range(1, 10)},
        "j": gettext_noop("next judgment"),
        "k": gettext_noop("judgment before"),
        "[": gettext_noop("sentence before"),
        "]": gettext_noop("next sentence"),
        "u": gettext_noop("undo"),
        "f": gettext_noop("flag"),
        "x": gettext_noop("can't judge"),
        "l": gettext_noop("later"),
        "s": gettext_noop("sign off"),
    }

    def prepare(self, task: Task) -> None:
        from assignment.argue.actions import prepare_sheets

        prepare_sheets(task)

    def renew(self, task: Task) -> None:
        from assignment.argue.actions import renew_sheets

        renew_sheets(task)

    def closed(self, condition: Condition) -> str | None:
        """People judge under conditions made for it."""
        from assessor.labels.manual_setups import not_for_people

        return not_for_people(condition)

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """People judge against finished questions."""
        from nuggets.queries import lacking_banks

        return lacking_banks(condition, topics)

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        from assessor.campaigns.queries import cited_docids

        return cited_docids(topics)

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        from assignment.argue.practice import practice_items

        return practice_items(tasks, against)

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        from assignment.argue.practice import practice_groups

        return practice_groups(task, of_answers)

    def has_work(self) -> Q:
        from assignment.argue.models import LabelEvent

        return Q(Exists(LabelEvent.objects.filter(sheet__answer__topic=OuterRef("pk"), judge__isnull=False)))

    @property
    def sheets(self) -> type[ArgueSheet]:
        from assignment.argue.models import ArgueSheet

        return ArgueSheet

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from assignment.argue.actions import follow_scope

        return follow_scope(condition, topic)

    def scoring(self) -> ArgueScoring:
        from assignment.argue.score_tables import ArgueScoring

        return ArgueScoring()

    def texts_of(self, questions: Sequence[Question]) -> list[str]:
        from assignment.argue.queries import item_texts

        texts = item_texts({question.item for question in questions})
        return [texts[question.item] for question in questions]

    def readings(self, campaign: Campaign, places: Sequence[Place]) -> Mapping[Place, Reading]:
        from assignment.argue.queries import read_documents

        return read_documents(campaign, places)

    def has_item(self, sheet: ArgueSheet, item: str) -> bool:
        """Say whether a judgment is or was asked for: what follows from another one can vanish."""
        return item in sheet.labels_by_item

    def condition_fields(self, campaign: Campaign) -> ArgueFields:
        from assignment.argue.forms import ArgueFields

        return ArgueFields(campaign)

    def place(self, item: str) -> tuple[Any, ...]:
        from assignment.argue.items import item_of_key

        return item_of_key(item)

    def step_of(self, item: str) -> str:
        from assignment.argue.items import item_of_key

        return item_of_key(item).step

    def aided_labels(self, condition: Condition) -> set[tuple[int, str]]:
        from assignment.argue.queries import aided_labels

        return aided_labels(condition)

    def docids_of(self, condition: Condition, things: Sequence[tuple[int, str]]) -> list[str]:
        from assignment.argue.items import item_of_key

        return [item_of_key(item).docid for _, item in things]

    def labels_on(self, topic: Topic, condition: Condition) -> Labels:
        return self.scoring().load_with_labels(condition, topic.pk)[1]

    def item_texts(self, items: Collection[str]) -> dict[str, str]:
        from assignment.argue.queries import item_texts

        return item_texts(items)

    def sheets_with(self, condition: Condition, things: Collection[tuple[int, str]]) -> dict[tuple[int, str], int]:
        from assignment.argue.queries import sheets_with

        return sheets_with(condition, things)

    def scored_editions(self, condition: Condition, topic: int | None = None) -> list[BankEdition]:
        from assignment.queries import scored_editions

        return scored_editions(condition, topic)

    def item_history(self, sheet: ArgueSheet, item: str) -> tuple[str, Iterable[Step]]:
        from assignment.argue.queries import item_texts

        return item_texts([item])[item], ()

    def sampled_as(self, sheet: ArgueSheet, item: str) -> QuerySet[SampledItem]:
        from assessor.studies.models import SampledItem

        return SampledItem.objects.none()  # there are no studies of reports

    def event_note(self, event: LabelEvent) -> str:
        return f"; edition {event.edition} of the bank"

    def reopened(self, condition: Condition) -> Iterator[str]:
        from assignment.queries import reopened_banks

        return reopened_banks(condition)

    def api_list(self) -> ApiList:
        from assignment.argue.api import ARGUE_LIST

        return ARGUE_LIST

    def archived(self) -> Mapping[type[Model], str]:
        from assignment.argue.models import ArgueJudgment, ArgueSheet, LabelEvent

        return {ArgueSheet: "condition", ArgueJudgment: "sheet", LabelEvent: "sheet"}

    def on_bank_finished(self, bank: NuggetBank) -> None:
        from assignment.argue.actions import follow_edition

        follow_edition(bank)

    def on_answers_changed(self, answers: Mapping[Answer, Sequence[Sentence]]) -> None:
        from assignment.argue.actions import follow_sentences

        follow_sentences(answers)

    def judged_by_segments(self, run: Run, docids: Collection[str]) -> set[str]:
        from assignment.argue.actions import judged_docids

        return judged_docids(run, docids)

    def on_texts_replaced(self, run: Run, docids: Collection[str]) -> None:
        from assignment.argue.actions import follow_texts

        follow_texts(run, docids)


ARGUE = Argue()
