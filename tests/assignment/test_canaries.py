"""Canaries: what they say, that no score has them, and what tells of a judge that they mislead."""

from uuid import UUID

import pytest
from django.core.management import call_command
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Condition, Run
from assessor.llm.models import Job
from assessor.scores.cache import condition_scores
from assignment.control_runs import ControlError, make_control_runs
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import A
from tests.assignment.test_auto import assigned
from tests.conftest import client_of
from tests.judging import all_judged, give
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.nuggets.conftest import do, fill

pytestmark = pytest.mark.django_db
TEXTS = ["purring heals", "cats purr when content", "kittens purr"]
NAMES = ("one-sentence", "shuffled", "padded", "negated", "repeated-topic", "injection-1", "injection-2", "injection-3")
TAGS = {f"canary.{name}.ManualNuggets" for name in NAMES}


def said(tag: str) -> dict[str, list[str]]:
    found = Answer.objects.filter(run__tag=tag).select_related("topic")
    return {answer.topic.qid: [sentence.text for sentence in answer.sentences()] for answer in found}


def make(condition: Condition, **options: bool) -> dict[str, int]:
    return make_control_runs(nuggets=condition, canaries=True, acting_user=None, **options)


@pytest.fixture
def second(finished: NuggetBank, anna: Person) -> NuggetBank:
    """A finished bank of another topic."""
    task = give(finished.condition, finished.condition.campaign.topics.get(qid="t2"), anna)
    bank = NuggetBank.objects.get(task=task)
    fill(bank, (UUID(int=500), "glass is melted", "vital"))
    do(bank, nugget_actions.finish_bank)
    return bank


def test_what_they_say(finished: NuggetBank, second: NuggetBank):
    made = make(finished.condition)
    assert made.pop("canary.wrong-citations.ManualNuggets") == 0  # nothing is cited that it could cite
    assert made == dict.fromkeys(
        ("control.nuggets.ManualNuggets", "control.empty", *TAGS, "canary.other-topic.ManualNuggets"), 2
    )

    def on_t1(name: str) -> list[str]:
        return said(f"canary.{name}.ManualNuggets")["t1"]

    assert on_t1("one-sentence") == ["purring heals; cats purr when content; kittens purr."]
    assert on_t1("negated") == [f"It is not true that {text}" for text in TEXTS]
    assert on_t1("repeated-topic") == ["why do cats purr"] * 50
    assert on_t1("other-topic") == ["glass is melted"]
    assert said("canary.other-topic.ManualNuggets")["t2"] == TEXTS
    assert sorted(on_t1("shuffled")) == sorted(TEXTS)
    assert on_t1("shuffled") != TEXTS
    assert on_t1("padded")[::2] == TEXTS
    assert set(on_t1("padded")[1::2]) == {"There is more to say about this."}
    assert len({on_t1(f"injection-{number}")[0] for number in (1, 2, 3)}) == 3
    assert set(Run.objects.filter(tag__startswith="canary.").values_list("task", flat=True)) == {"control"}


def test_they_are_made_once_and_where_somebody_asks_for_them(finished: NuggetBank, olga: Person, capsys):
    client = client_of(olga)
    form = {"nuggets": finished.condition_id}
    client.post("/campaigns/study/control-runs/", form)
    assert not Run.objects.filter(tag__startswith="canary.").exists()
    assert "Add canaries" in client.get("/campaigns/study/runs/").content.decode()
    page = client.post("/campaigns/study/control-runs/", {**form, "canaries": "on"}, follow=True).content.decode()
    assert "canary.negated.ManualNuggets 1" in page
    page = client.post("/campaigns/study/control-runs/", {**form, "canaries": "on"}, follow=True).content.decode()
    assert "Answers added: none, they are all there." in page
    # There is one topic, so no other has nuggets to answer with.
    assert (
        set(Run.objects.filter(tag__startswith="canary.", answers__isnull=False).values_list("tag", flat=True)) == TAGS
    )
    call_command("make_control_runs", "study", nuggets="ManualNuggets", canaries=True)
    assert "canary.negated.ManualNuggets: 0 answers added" in capsys.readouterr().out


def test_of_changed_nuggets_there_are_others_when_asked_for(finished: NuggetBank, olga: Person):
    make(finished.condition)
    nugget_actions.reopen_bank(finished, reason="again", acting_user=olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="it heals")
    do(finished, nugget_actions.finish_bank)
    with pytest.raises(ControlError, match=r"The nuggets of t1 were changed since"):
        make(finished.condition)
    made = make(finished.condition, anew=True)
    assert made["canary.negated.ManualNuggets.2"] == 1
    assert made["canary.injection-1.ManualNuggets"] == 0  # which says the same whatever the nuggets are
    assert said("canary.negated.ManualNuggets.2")["t1"][0] == "It is not true that it heals"


def test_people_are_never_given_them(finished: NuggetBank, manual: Condition, anna: Person):
    make(finished.condition)
    task = give(manual, finished.topic, anna)
    assert {sheet.answer.run.tag for sheet in all_judged(task)} == {"team.one", "team.two", "team.empty"}


def judged(finished: NuggetBank, endpoint) -> Job:  # noqa: F811
    make(finished.condition)
    return assigned(make_judge(finished.condition.campaign, endpoint().base_url), finished.condition)


@pytest.mark.django_db(transaction=True)
def test_a_model_labels_them_and_no_score_has_them(finished: NuggetBank, endpoint, olga: Person):  # noqa: F811
    condition = judged(finished, endpoint).condition
    tags = {sheet.answer.run.tag for sheet in all_judged(condition)}
    assert {tag for tag in tags if tag.startswith("canary.")} == TAGS
    found = condition_scores(condition)
    assert not [run.tag for run in found.runs if run.tag.startswith("canary.")]
    assert "control.nuggets.ManualNuggets" in [run.tag for run in found.runs]
    client = client_of(olga)
    for address in (
        f"scores/?condition={condition.pk}",
        f"scores/{condition.pk}/topics/{finished.topic_id}/",
        reverse("export_scores", args=["study", condition.pk, "csv"]).removeprefix("/campaigns/study/"),
        f"scores/{condition.pk}/nuggets/",
    ):
        response = client.get(f"/campaigns/study/{address}")
        page = b"".join(response.streaming_content) if response.streaming else response.content
        assert response.status_code == 200, address
        assert b"canary." not in page, address


@pytest.mark.django_db(transaction=True)
def test_a_judge_that_looks_for_words_is_misled_by_what_is_negated(finished: NuggetBank, endpoint, olga: Person):  # noqa: F811
    condition = judged(finished, endpoint).condition
    client, base = client_of(olga), f"/campaigns/study/scores/{condition.pk}/canaries/"
    assert base in client.get(f"/campaigns/study/scores/?condition={condition.pk}").content.decode()
    page = client.get(base).content.decode()
    told = "1 of 8 canaries score as they should not. Each nugget negated: 1.00, should be at most 0.05."
    assert told in page
    assert page.count("as it should<") == 7
    table = b"".join(client.get(f"{base}table.csv").streaming_content).decode().splitlines()
    assert table[0] == "canary,says,least,most,topics,former_topics,astrict,outside"
    rows = {row.split(",")[0]: row.split(",")[2:] for row in table[1:]}
    assert rows["negated"] == ["0.0", "0.05", "1", "0", "1.0", "1"]
    assert rows["one-sentence"][-2:] == ["1.0", "0"]
    assert rows["injection-2"][-2:] == ["0.0", "0"]


@pytest.mark.django_db(transaction=True)
def test_what_was_said_of_former_nuggets_does_not_count(finished: NuggetBank, endpoint, olga: Person):  # noqa: F811
    condition = judged(finished, endpoint).condition
    nugget_actions.reopen_bank(finished, reason="again", acting_user=olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="it heals")
    do(finished, nugget_actions.finish_bank)
    page = client_of(olga).get(f"/campaigns/study/scores/{condition.pk}/canaries/").content.decode()
    assert "1 topic left out: nuggets changed since" in page
    assert "negated: " not in page


def test_without_canaries_there_is_no_page(manual: Condition, finished: NuggetBank, olga: Person):
    give(manual, finished.topic, finished.task.person)
    client = client_of(olga)
    assert client.get(f"/campaigns/study/scores/{manual.pk}/canaries/").status_code == 404
    assert "canaries/" not in client.get(f"/campaigns/study/scores/?condition={manual.pk}").content.decode()
