"""Questions on both topics, and people who grade how well answers answer them."""

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from assignment.grading.label_kind import GRADING
from tests.assignment.conftest import answered  # noqa: F401
from tests.conftest import Importer, client_of
from tests.judging import give
from tests.questions.banks import answer, bank, question

HEAL = question("What does purring heal?", answer("Bones", "d1"), importance="vital")
WHEN = question("When do cats purr?", answer("When content"), answer("In pain"), importance="vital")
KITTENS = question("Do kittens purr?", answer("Yes"), importance="okay")
GLASS = question("How is glass recycled?", answer("It is melted"))
BANKS = [bank(HEAL, WHEN, KITTENS), bank(GLASS, qid="t2")]


@pytest.fixture
def questions(answered: Campaign, import_file: Importer) -> Condition:  # noqa: F811
    """Three questions on t1 and one on t2."""
    done = import_file(answered, "questions", BANKS, condition="Questions", by="people")
    assert done.state == "done", done.report
    return answered.conditions.get(name="Questions")


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def by_people(questions: Condition, olga: Person) -> Condition:
    """People grade."""
    return create_manual_assign(nuggets=questions, name="Questions/Manual", acting_user=olga, kind=GRADING)


@pytest.fixture
def grades(by_people: Condition, topic: Topic, anna: Person) -> Task:
    """Anna's task: three answers to t1, one of them empty and so done by rule."""
    return give(by_people, topic, anna)
