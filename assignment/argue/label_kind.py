"""All that differs where labels say what the sentences of a report state, and whether what they cite attests them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q

from assessor.labels.label_kind import LabelKind
from assignment.argue.vocabulary import LABELS

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from assessor.campaigns.models import Answer, Condition, Sentence, Topic
    from assessor.labels.api import ApiList
    from assessor.labels.flags import Question
    from assessor.labels.label_history import Step
    from assessor.scores.loading import Labels
    from assessor.studies.models import SampledItem
    from assessor.work.judging_pool import Moved
    from assignment.argue.models import ArgueSheet, LabelEvent
    from assignment.argue.score_tables import ArgueScoring
    from nuggets.models import BankEdition, NuggetBank


MANUAL, AUTO = "ManualArgue", "AutoArgue"


class Argue(LabelKind):
    """A question to a sentence of a report, with yes or no for an answer."""

    name = "argue"
    title = "Report judgment"
    instruction = "Say of each sentence what its citations attest, and which questions it answers."
    item = "judgment"
    item_heading = "Sentence and question"
    counted = "reports"
    done = "judged"
    job = AUTO
    blind_method = MANUAL
    peoples_methods = (MANUAL,)
    methods = (MANUAL, AUTO)
    builds_on = ("questions",)
    labels = LABELS
    has_screen = False
    is_in_every_study = False

    def has_work(self) -> Q:
        from assignment.argue.models import LabelEvent

        return Q(Exists(LabelEvent.objects.filter(sheet__answer__topic=OuterRef("pk"), judge__isnull=False)))

    @property
    def sheets(self) -> type[ArgueSheet]:
        from assignment.argue.models import ArgueSheet

        return ArgueSheet

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from assessor.work.judging_pool import mark

        return mark(self.sheets, condition, topic)

    def scoring(self) -> ArgueScoring:
        from assignment.argue.score_tables import ArgueScoring

        return ArgueScoring()

    def texts_of(self, questions: Sequence[Question]) -> list[str]:
        from assignment.argue.queries import item_texts

        texts = item_texts({question.item for question in questions})
        return [texts[question.item] for question in questions]

    def place(self, item: str) -> tuple[Any, ...]:
        from assignment.argue.items import item_of_key

        return item_of_key(item)

    def labels_on(self, topic: Topic, condition: Condition) -> Labels:
        return self.scoring().load_with_labels(condition, topic.pk)[1]

    def item_texts(self, items: Collection[str]) -> dict[str, str]:
        from assignment.argue.queries import item_texts

        return item_texts(items)

    def sheets_with(self, condition: Condition, things: Collection[tuple[int, str]]) -> dict[tuple[int, str], int]:
        from assignment.argue.queries import sheets_with

        return sheets_with(condition, things)

    def scored_editions(self, condition: Condition) -> list[BankEdition]:
        from assignment.queries import scored_editions

        return scored_editions(condition)

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


ARGUE = Argue()
