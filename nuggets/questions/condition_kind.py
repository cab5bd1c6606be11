"""All that differs where nuggets are questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext_noop

from nuggets.condition_kind import Nuggets

if TYPE_CHECKING:
    from assessor.campaigns.models import Campaign, Condition
    from assessor.labels.api import ApiList
    from nuggets.models import Nugget, NuggetBank
    from nuggets.queries import Finding
    from nuggets.questions.forms import QuestionFields


MANUAL, QUERY = "ManualQuestions", "QueryQuestions"
AUTO, EDITS = "AutoQuestions", "AutoQuestions+Edits"
CONTRAST, GROUNDED, RANDOM_PAIRS = "PrefQuestions", "GroundedQuestions", "RandomPairQuestions"
CONTRAST_EDITS, GROUNDED_EDITS = f"{CONTRAST}+Edits", f"{GROUNDED}+Edits"
_FROM_RUNS = (CONTRAST, CONTRAST_EDITS, GROUNDED, GROUNDED_EDITS, RANDOM_PAIRS)


class Questions(Nuggets):
    """Banks of questions, one on a topic, each question with its gold answers."""

    name = gettext_noop("questions")
    title = gettext_noop("Question nuggets")
    instruction = gettext_noop("List the questions that a good answer answers.")
    counted = gettext_noop("questions")
    blind_method = MANUAL
    peoples_methods = (MANUAL, EDITS, CONTRAST_EDITS, GROUNDED_EDITS)
    methods = (MANUAL, QUERY, AUTO, EDITS, *_FROM_RUNS)
    drafted_methods = (QUERY, AUTO, EDITS, *_FROM_RUNS)
    is_in_every_study = False
    thing = gettext_noop("question")
    gold = ()
    # Besides those of the screen of nuggets, which is its screen too.
    keys = {
        "a": gettext_noop("add a gold answer"),
        "b": gettext_noop("any or all of the gold answers"),
        ">": gettext_noop("a part of the question above"),
        "<": gettext_noop("not a part of it any more"),
    }

    def findings(self, bank: NuggetBank, listed: Sequence[Nugget]) -> list[Finding]:
        from nuggets.questions.queries import findings

        return findings(listed)

    def remarks(self, condition: Condition, listed: Sequence[Nugget]) -> dict[str, int]:
        from nuggets.questions.queries import remarks

        return remarks(condition, listed)

    def condition_fields(self, campaign: Campaign) -> QuestionFields | None:
        from nuggets.questions.forms import QuestionFields

        return QuestionFields(campaign)

    def api_list(self) -> ApiList:
        from nuggets.questions.api import QUESTION_LIST

        return QUESTION_LIST

    def has_work(self) -> Q:
        """Work on banks of any kind counts once, as that of nuggets."""
        return Q(pk__in=[])


QUESTIONS = Questions()
