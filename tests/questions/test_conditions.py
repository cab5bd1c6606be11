"""A condition under which people write questions: made on its page, given to somebody, and found at home."""

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from tests.conftest import client_of


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def test_it_is_made_on_the_page_of_new_conditions(campaign: Campaign, as_olga: Client):
    address = "/campaigns/study/conditions/new/"
    assert "Questions by people" in as_olga.get(address).content.decode()
    form = {"method": "ManualQuestions", "qrels_source": campaign.qrels_sources.get(name="NIST").pk}
    assert "This field is required." in as_olga.post(address, {"method": "ManualQuestions"}).content.decode()
    assert as_olga.post(address, form | {"min_relevant_grade": 2}).status_code == 302
    condition = Condition.objects.get()
    assert (condition.name, condition.kind, condition.method, condition.min_relevant_grade) == (
        "ManualQuestions, relevant from 2",
        "questions",
        "ManualQuestions",
        2,
    )
    assert condition.is_blind()


def test_who_is_given_a_topic_finds_it_at_home(manual_questions: Condition, anna: Person, as_olga: Client):
    topic = manual_questions.campaign.topics.get(qid="t1")
    form = {"topics": [topic.pk], "condition": manual_questions.pk, "person": anna.pk}
    page = as_olga.post("/campaigns/study/plan/give/", form, follow=True).content.decode()
    assert "anna has 1 topic under ManualQuestions" in page
    bank = topic.nugget_banks.get()
    home = client_of(anna).get("/").content.decode()
    assert "Question nuggets" in home
    assert f'href="/nuggets/{bank.pk}/"' in home
    editor = client_of(anna).get(f"/nuggets/{bank.pk}/").content.decode()
    assert "<h2>Questions</h2>" in editor
    assert "A statement, never a question" not in editor
