"""All that differs where labels say how far a cited passage supports a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from django.db.models import Exists, F, OuterRef, Q
from django.utils.translation import gettext_noop

from assessor.labels.label_kind import LabelKind
from support.citations import LABELS

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from assessor.campaigns.models import Answer, Campaign, Condition, Run, Sentence, Topic
    from assessor.labels.api import ApiList
    from assessor.labels.flags import Place, Question, Reading
    from assessor.labels.label_history import Step
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.studies.models import SampledItem
    from assessor.work.judging_pool import Moved
    from assessor.work.models import Task
    from support.forms import SupportFields
    from support.models import SupportSheet
    from support.score_tables import SupportScoring
    from support.studies import CitationSampling


FROM_SCRATCH, POST_EDITED, AUTOMATIC = "support from scratch", "support post-edited", "support automatic"


class Support(LabelKind):
    """A citation of a sentence of an answer."""

    name = gettext_noop("support")
    title = gettext_noop("Support")
    instruction = gettext_noop("Say of each citation how far its passage supports the sentence.")
    item = gettext_noop("citation")
    counted = gettext_noop("citations")
    done = "judged"
    item_heading = gettext_noop("Sentence and what it cites")
    job = "Support"
    blind_method = FROM_SCRATCH
    post_edited_method = POST_EDITED
    peoples_methods = (FROM_SCRATCH, POST_EDITED)
    methods = (FROM_SCRATCH, POST_EDITED, AUTOMATIC)
    comparison_page = "support_pairs"
    questions_page = "support_questions"
    can_be_rejudged = True
    settling = "support/_settle.html"
    unasked = Q(equal_to__isnull=False) & ~Q(equal_to=F("pk"))
    labels = tuple(reversed(LABELS))
    keys = {
        "1": "full",
        "2": "partial",
        "3": "none",
        "j": gettext_noop("next citation"),
        "k": gettext_noop("citation before"),
        "u": gettext_noop("undo"),
        "f": gettext_noop("flag"),
        "x": gettext_noop("can't judge"),
        "l": gettext_noop("later"),
        "s": gettext_noop("sign off"),
    }

    def prepare(self, task: Task) -> None:
        from support.actions import prepare_sheets

        prepare_sheets(task)

    def renew(self, task: Task) -> None:
        from support.actions import renew_sheets

        renew_sheets(task)

    def closed(self, condition: Condition) -> str | None:
        """People judge under conditions made for it."""
        from assessor.labels.manual_setups import not_for_people

        return not_for_people(condition)

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        from assessor.campaigns.queries import cited_docids

        return cited_docids(topics)

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        from support.practice import practice_items

        return practice_items(tasks, against)

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        from support.practice import practice_groups

        return practice_groups(task, of_answers)

    def has_work(self) -> Q:
        from support.models import LabelEvent

        return Q(Exists(LabelEvent.objects.filter(sheet__answer__topic=OuterRef("pk"), judge__isnull=False)))

    @property
    def sheets(self) -> type[SupportSheet]:
        from support.models import SupportSheet

        return SupportSheet

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        from support.actions import follow_scope

        return follow_scope(condition, topic)

    def scoring(self) -> SupportScoring:
        from support.score_tables import SupportScoring

        return SupportScoring()

    def sampling(self) -> CitationSampling:
        from support.studies import CitationSampling

        return CitationSampling()

    def docids_of(self, condition: Condition, things: Sequence[tuple[int, int]]) -> list[str]:
        from support.score_arrays import docids_of

        docids = docids_of(condition)
        return [docids[thing] for thing in things]

    def aided_labels(self, condition: Condition) -> set[tuple[int, int]]:
        from support.score_arrays import aided_labels

        return aided_labels(condition)

    def texts_of(self, questions: Sequence[Question]) -> list[str]:
        from support.queries import with_citations

        return [f"{about.text} — {about.docid}" for _, about in with_citations(questions)]

    def readings(self, campaign: Campaign, places: Sequence[Place]) -> Mapping[Place, Reading]:
        from support.queries import read_passages

        return read_passages(campaign, places)

    def waiting_for_a_model(self, campaign: Campaign) -> Mapping[int, int]:
        from support.queries import waiting_for_a_model

        return waiting_for_a_model(campaign)

    def item_history(self, sheet: SupportSheet, item: str) -> tuple[str, Iterable[Step]]:
        from support.item_history import item_text

        return item_text(sheet, item), ()

    def sampled_as(self, sheet: SupportSheet, item: str) -> QuerySet[SampledItem]:
        from support.item_history import sampled_as

        return sampled_as(sheet, item)

    def condition_fields(self, campaign: Campaign) -> SupportFields:
        from support.forms import SupportFields

        return SupportFields(campaign)

    def api_list(self) -> ApiList:
        from support.api import SUPPORT_LIST

        return SUPPORT_LIST

    def archived(self) -> Mapping[type[Model], str]:
        from support.models import LabelEvent, SupportJudgment, SupportSheet

        return {SupportSheet: "condition", SupportJudgment: "sheet", LabelEvent: "sheet"}

    def on_answers_changed(self, answers: Mapping[Answer, Sequence[Sentence]]) -> None:
        from support.actions import follow_citations

        follow_citations(answers)

    def judged_by_segments(self, run: Run, docids: Collection[str]) -> set[str]:
        from support.actions import judged_docids

        return judged_docids(run, docids)

    def supported_sentences(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[int, list[tuple[int, int]]]:
        from support.queries import supported_sentences

        return supported_sentences(condition, topics)

    def on_texts_replaced(self, run: Run, docids: Collection[str]) -> None:
        from support.actions import follow_texts

        follow_texts(run, docids)


SUPPORT = Support()
