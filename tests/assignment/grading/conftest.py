"""Questions on both topics, and people who grade how well answers answer them."""

from collections.abc import Mapping, Sequence

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from assignment.grading.label_kind import GRADING
from assignment.models import AnswerSheet
from tests.assignment.conftest import answered  # noqa: F401
from tests.conftest import Importer, client_of
from tests.judging import change, give, nuggets_of
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


TEXTS = {"team.one": "Cats purr to heal. They also purr when content.", "team.two": "Dogs bark."}
GRADES = {"team.one": ("5", "0", "3"), "team.two": ("1", "2", "0")}


def grade_as_model(
    questions: Condition, import_file: Importer, grades: Mapping[str, Sequence[str]], name: str = "Mia's grades"
) -> Condition:
    """Load a model's grades of answers to t1, by the run's tag."""
    records = [
        {"run_id": tag, "query_id": "t1", "question": one["question"], "passage": TEXTS[tag], "grade": int(grade)}
        for tag, of_answer in grades.items()
        for one, grade in zip((HEAL, WHEN, KITTENS), of_answer, strict=True)
    ]
    told = {"condition": name, "by": "model", "nuggets": "Questions"}
    done = import_file(questions.campaign, "question_grades", records, **told)
    assert done.state == "done", done.report
    return questions.campaign.conditions.get(name=name)


@pytest.fixture
def by_model(questions: Condition, import_file: Importer) -> Condition:
    """A model's grades on t1: of all questions of one answer, of two questions of another."""
    condition = grade_as_model(questions, import_file, GRADES)
    incomplete = AnswerSheet.objects.get(condition=condition, answer__run__tag="team.two")
    change(incomplete, {nuggets_of(incomplete.bank)[2]: {"label": None}}, "take back")
    return condition


@pytest.fixture
def post_edited_grades(questions: Condition, by_model: Condition, olga: Person) -> Condition:
    """People grade beside the model's grades."""
    return create_manual_assign(nuggets=questions, name="Edited", acting_user=olga, kind=GRADING, shown=by_model)


@pytest.fixture
def beside(post_edited_grades: Condition, topic: Topic, anna: Person) -> Task:
    """Anna's task beside the model's grades: an answer that can be opened, one that waits, and an empty one."""
    return give(post_edited_grades, topic, anna)
