"""Anna's screen of each kind of label, and those on which a model's labels stand beside the choices."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.labels.label_kind import label_kinds
from assessor.work.models import Task
from tests.assignment.argue.judging_helpers import judged_by_people, load_questions
from tests.assignment.conftest import answered, finished, manual  # noqa: F401
from tests.assignment.grading.conftest import beside, by_model, by_people, grades, post_edited_grades, questions  # noqa: F401
from tests.judging import give
from tests.labels.screens import (
    SCREENS,
    ArgueScreen,
    AssignmentScreen,
    GradingScreen,
    PreferenceScreen,
    RelevanceScreen,
    Screen,
    SupportScreen,
)
from tests.preference import people
from tests.relevance.conftest import edited, give_relevance, pooled  # noqa: F401
from tests.support.judging_helpers import from_scratch, load_runs, post_edited

KINDS = [kind.name for kind in label_kinds() if kind.has_screen]
POST_EDITED = ["post_edited_grading", "post_edited_support", "post_edited_relevance"]


def of_kinds(
    *names: str,
    where: Callable[[type[Screen]], bool] = bool,
    cases: Callable[[type[Screen]], Iterable[Any]] | None = None,
) -> pytest.MarkDecorator:
    """Run a test on the screens of the kinds for which something is true, and there for each case."""
    kinds = [kind for kind in KINDS if where(SCREENS[kind])]
    if cases is None:
        return pytest.mark.parametrize("screen", kinds, indirect=True)
    each = [(kind, *case) for kind in kinds for case in cases(SCREENS[kind])]
    return pytest.mark.parametrize(("screen", *names), each, indirect=["screen"])


def can(write: str) -> Callable[[type[Screen]], bool]:
    return lambda screen: write in screen.writes


def signs_off(screen: type[Screen]) -> bool:
    return screen.signs_off


@pytest.fixture(params=KINDS)
def screen(request: pytest.FixtureRequest) -> Screen:
    """Anna's screen of each kind of label, from scratch."""
    return request.getfixturevalue(f"{request.param}_screen")


@pytest.fixture(params=KINDS + POST_EDITED)
def any_screen(request: pytest.FixtureRequest) -> Screen:
    """Anna's screen of each kind of label, from scratch and beside a model's labels."""
    return request.getfixturevalue(f"{request.param}_screen")


@pytest.fixture
def assignment_screen(manual: Condition, topic: Topic, anna: Person) -> AssignmentScreen:  # noqa: F811
    return AssignmentScreen(give(manual, topic, anna))


@pytest.fixture
def grading_screen(grades: Task) -> GradingScreen:  # noqa: F811
    return GradingScreen(grades)


@pytest.fixture
def post_edited_grading_screen(beside: Task) -> GradingScreen:  # noqa: F811
    return GradingScreen(beside)


@pytest.fixture
def support_screen(campaign: Campaign, import_file, topic: Topic, anna: Person) -> SupportScreen:
    load_runs(campaign, import_file)
    return SupportScreen(give(from_scratch(campaign), topic, anna))


@pytest.fixture
def preference_screen(campaign: Campaign, import_file, topic: Topic, anna: Person) -> PreferenceScreen:
    people.load_runs(campaign, import_file)
    people.allow_ties(campaign)
    return PreferenceScreen(give(people.condition(campaign), topic, anna))


@pytest.fixture
def post_edited_support_screen(campaign: Campaign, import_file, topic: Topic, anna: Person) -> SupportScreen:
    load_runs(campaign, import_file)
    return SupportScreen(give(post_edited(campaign), topic, anna))


@pytest.fixture
def argue_screen(campaign: Campaign, import_file, topic: Topic, anna: Person) -> ArgueScreen:
    return ArgueScreen(give(judged_by_people(load_questions(campaign, import_file)), topic, anna))


@pytest.fixture
def loaded(pooled: Campaign, import_file) -> Campaign:  # noqa: F811
    """The campaign with a pool of four passages on t1, all with a text."""
    assert import_file(pooled, "segments", [{"docid": "d4", "segment": "Lions roar."}], name="d4").state == "done"
    return pooled


@pytest.fixture
def relevance_screen(loaded: Campaign, anna: Person) -> RelevanceScreen:
    return RelevanceScreen(give_relevance(loaded, anna))


@pytest.fixture
def post_edited_relevance_screen(loaded: Campaign, edited: Task) -> RelevanceScreen:  # noqa: F811
    return RelevanceScreen(edited)
