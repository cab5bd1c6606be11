"""All that differs where labels grade how well an answer answers a question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy, gettext_noop

from assessor.campaigns.condition_kind import Section
from assignment.label_kind import Assignment, Choice, screen_keys

if TYPE_CHECKING:
    from django.db.models import Model

    from assessor.campaigns.models import Answer, Campaign, Condition, Run, Sentence, Topic
    from assessor.labels.api import ApiList
    from assignment.grading.forms import GradingFields
    from assignment.grading.score_tables import GradeScoring
    from nuggets.models import NuggetBank


MANUAL, POST_EDITED, AUTO = "ManualGrade", "grading post-edited", "AutoGrade"
AUTO_PASSAGES = "GradePassages"  # the same method, of passages


class Grading(Assignment):
    """A question and how well an answer answers it. Grades are texts: as a label, the number 0 would be none."""

    name = gettext_noop("grading")
    has_variants = False
    title = gettext_noop("Question grading")
    instruction = gettext_noop("Grade how well each question is answered.")
    item = gettext_noop("question")
    item_heading = gettext_noop("Question")
    batch_setting = "grade_batch"
    done = "graded"
    job = AUTO
    blind_method = MANUAL
    post_edited_method = POST_EDITED
    peoples_methods = (MANUAL, POST_EDITED)
    methods = (MANUAL, POST_EDITED, AUTO)
    builds_on = ("questions",)
    takes_invalid_labels = False
    is_in_every_study = False
    labels_export = "grades_by_answer"
    choices = (
        Choice("0", "0", "0", "none", gettext_lazy("0, not answered at all")),
        Choice("1", "1", "1", "minimal", gettext_lazy("1, answered minimally")),
        Choice("2", "2", "2", "limited", gettext_lazy("2, answered in small part, with significant gaps")),
        Choice("3", "3", "3", "partial", gettext_lazy("3, answered in part, with noticeable gaps")),
        Choice("4", "4", "4", "mostly", gettext_lazy("4, mostly answered, with minor gaps")),
        Choice("5", "5", "5", "fully", gettext_lazy("5, answered completely and accurately")),
    )
    labels = tuple(choice.label for choice in choices)
    keys = screen_keys(choices, item)

    def scoring(self) -> GradeScoring:
        from assignment.grading.score_tables import GradeScoring

        return GradeScoring()

    def condition_fields(self, campaign: Campaign) -> GradingFields:
        from assignment.grading.forms import GradingFields

        return GradingFields(campaign)

    def api_list(self) -> ApiList:
        from assignment.grading.api import GRADE_LIST

        return GRADE_LIST

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        from assignment.grading.passages import passages_on

        return passages_on(topics) if condition.of_passages else ()

    def docids_of(self, condition: Condition, things: Sequence[tuple[int, int]]) -> list[str]:
        from assignment.grading.passages import docids_of_passages

        if not condition.of_passages:
            return super().docids_of(condition, things)
        docids = docids_of_passages({passage for passage, _ in things})
        return [docids[passage] for passage, _ in things]

    def job_on(self, condition: Condition) -> str:
        return AUTO_PASSAGES if condition.of_passages else AUTO

    def runs_section(self, campaign: Campaign) -> Section | None:
        """Return the section of the pool's passages; control runs state facts, and those of assignment do for both."""
        from assignment.grading.forms import PassagesForm

        has_pool = campaign.retrieval_runs.exists() and campaign.conditions.filter(kind__in=self.builds_on).exists()
        if not has_pool:
            return None
        return Section("grading/_passages.html", PassagesForm(campaign), "passages", "Add passages to grade")

    def judged_by_segments(self, run: Run, docids: Collection[str]) -> set[str]:
        from assignment.grading.run_texts import graded_docids

        return graded_docids(run, docids)

    def on_texts_replaced(self, run: Run, docids: Collection[str]) -> None:
        from assignment.grading.run_texts import follow_texts

        follow_texts(run, docids)

    # The tables are those of assignment, which sees to all that is in them.

    def archived(self) -> Mapping[type[Model], str]:
        return {}

    def on_bank_finished(self, bank: NuggetBank) -> None:
        pass

    def on_answers_changed(self, answers: Mapping[Answer, Sequence[Sentence]]) -> None:
        pass


GRADING = Grading()
