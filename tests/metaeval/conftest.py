"""Two conditions on the same nuggets, and two on the same citations."""

import pytest

from assessor.campaigns.models import Campaign, Condition
from tests.assignment.conftest import answered as answered
from tests.assignment.scored import LABELS, auto_condition, import_banks, label
from tests.support.scores_helpers import ANSWERS, import_answers, judge, support_condition

# Where the second condition differs from LABELS, by topic and run.
OTHER_LABELS = {
    "t1": {"team.one": "ssn", "team.two": "nss", "team.empty": "nnn"},
    "t2": {"team.one": "sp", "team.two": "nn"},
}
OTHER_ANSWERS = {
    "team.one": {"t1": ["p", "n", ""], "t2": ["", ""]},
    "team.two": {"t1": ["f", "f", "n?", "p", ""], "t2": ["f"]},
}


@pytest.fixture
def edits(answered: Campaign, import_file) -> Condition:
    """Imported nuggets on both topics."""
    return import_banks(answered, import_file)


@pytest.fixture
def first(edits: Condition) -> Condition:
    """A model's labels of everything: those of LABELS."""
    return label(auto_condition(edits, "First"), LABELS)


@pytest.fixture
def second(edits: Condition) -> Condition:
    """Another model's."""
    return label(auto_condition(edits, "Second"), OTHER_LABELS)


@pytest.fixture
def cited(campaign: Campaign, import_file) -> Campaign:
    """The campaign with three runs that cite."""
    import_answers(campaign, import_file, ANSWERS)
    return campaign


@pytest.fixture
def first_support(cited: Campaign) -> Condition:
    """A model's labels of all citations."""
    return judge(support_condition(cited, "First support"), ANSWERS)


@pytest.fixture
def second_support(cited: Campaign) -> Condition:
    """Another model's, of two runs."""
    return judge(support_condition(cited, "Second support"), OTHER_ANSWERS)
