"""Two runs, people who judge them from scratch or beside a model's labels, and what Anna is given."""

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.work.models import Task
from support.models import SupportSheet
from tests.judging import give
from tests.support.judging_helpers import from_scratch, load_runs, post_edited, sheet_of


@pytest.fixture
def answered(campaign: Campaign, import_file) -> Campaign:
    load_runs(campaign, import_file)
    return campaign


@pytest.fixture
def scratch(answered: Campaign) -> Condition:
    return from_scratch(answered)


@pytest.fixture
def edited(answered: Campaign) -> Condition:
    return post_edited(answered)


@pytest.fixture
def task(scratch: Condition, topic: Topic, anna: Person) -> Task:
    """Anna's from scratch: two citations of team.one, one of team.two and one of its without text, a silent answer."""
    return give(scratch, topic, anna)


@pytest.fixture
def sheet(task: Task) -> SupportSheet:
    """Anna's sheet on the answer of team.one: two citations."""
    return sheet_of(task, "team.one")


@pytest.fixture
def beside(edited: Condition, topic: Topic, anna: Person) -> SupportSheet:
    """Anna's sheet on the answer of team.one beside the model's labels: partial, and none yet."""
    return sheet_of(give(edited, topic, anna), "team.one")
