"""All that differs where nuggets are questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db.models import Q

from nuggets.condition_kind import Nuggets

if TYPE_CHECKING:
    from assessor.campaigns.models import Campaign
    from assessor.labels.api import ApiList
    from nuggets.forms import NuggetFields


MANUAL, QUERY, AUTO = "ManualQuestions", "QueryQuestions", "AutoQuestions"


class Questions(Nuggets):
    """Banks of questions, one on a topic, each question with its gold answers."""

    name = "questions"
    title = "Question nuggets"
    instruction = "List the questions that a good answer answers."
    counted = "questions"
    blind_method = MANUAL
    peoples_methods = ()
    methods = (MANUAL, QUERY, AUTO)
    drafted_methods = (QUERY, AUTO)
    has_screen = False
    is_in_every_study = False
    keys: Mapping[str, str] = {}

    def condition_fields(self, campaign: Campaign) -> NuggetFields | None:
        return None

    def api_list(self) -> ApiList:
        from nuggets.questions.api import QUESTION_LIST

        return QUESTION_LIST

    def has_work(self) -> Q:
        """Work on banks of any kind counts once, as that of nuggets."""
        return Q(pk__in=[])


QUESTIONS = Questions()
