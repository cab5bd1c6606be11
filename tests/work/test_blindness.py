"""Nobody who has seen what a model gave works blind, and the editor shows nothing of it."""

from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, change_protocol, create_campaign, end_membership
from assessor.campaigns.condition_kind import condition_kinds, method_choices
from assessor.campaigns.models import Campaign, Condition, Role, Topic
from assessor.work.actions import PlanError, give_tasks, put_in_queue
from assessor.work.blindness import barred_from, has_seen, record_exposure
from assessor.work.models import Exposure, Task
from assessor.work.queries import assessors
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.nuggets.conftest import WRITES, A, B, fill, send, url

SEEN = (
    "You have seen what a language model gave on this topic for this kind of work, so you can&#x27;t do it blind. "
    "Tell your organizer, who can give the topic to somebody else."
)


def page(client: Client, bank: NuggetBank) -> HttpResponse:
    return client.get(url(bank, "editor"))


@pytest.fixture
def written(bank: NuggetBank) -> NuggetBank:
    """Anna's bank with two vital nuggets: it could be finished."""
    fill(bank, (A, "a", "vital"), (B, "b", "vital"))
    return bank


@pytest.fixture
def switch_off(campaign: Campaign, olga: Person) -> Callable[[], None]:
    """Let people work blind in the campaign whatever they saw."""

    def do() -> None:
        change_protocol(campaign=campaign, settings={"blind_after_seeing": False}, acting_user=olga)

    return do


# Who is barred from a campaign


def test_organizers_present_and_former_are_barred(campaign: Campaign, anna: Person, olga: Person, switch_off):
    reason = "{} organizes Study, or did; an organizer isn't an assessor in the same campaign."
    assert barred_from(anna, campaign) is None
    assert barred_from(olga, campaign) == reason.format("olga")
    organizer = add_member(campaign=campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    assert barred_from(anna, campaign) == reason.format("anna")
    end_membership(membership=organizer, acting_user=olga)
    assert barred_from(anna, campaign) == reason.format("anna")
    switch_off()
    assert barred_from(anna, campaign) is None
    assert barred_from(olga, campaign) is None


def test_a_former_administrator_is_barred_from_campaigns_of_that_time(
    bank: NuggetBank, condition: Condition, anna: Person, olga: Person, admin: Person, as_anna: Client, switch_off
):
    """They could see all of it, as whoever organized it could."""
    option = f'<option value="{anna.pk}">'
    give = f"/campaigns/study/plan/give/?topics={Topic.objects.get(qid='t2').pk}&condition={condition.pk}"
    assert option in client_of(olga).get(give).content.decode()
    anna.refresh_from_db()
    change = {"username": "anna", "is_active": "on", "last_name": anna.last_name}
    for superuser in ("on", ""):
        page_of_anna = f"/admin/accounts/person/{anna.pk}/change/"
        assert client_of(admin).post(page_of_anna, change | {"is_superuser": superuser}).status_code == 302
    told = "anna was an administrator while Study existed, and could see every record of it."
    page_of_anna = client_of(olga).get(f"/campaigns/study/people/{anna.pk}/").content.decode()
    assert f"No work can be given to them: {told}" in page_of_anna
    assert page(as_anna, bank).status_code == 403
    assert told in page(as_anna, bank).content.decode()
    later = Topic.objects.get(qid="t2")
    assert option not in client_of(olga).get(give).content.decode()
    put_in_queue(topics=[later], condition=condition, acting_user=olga)
    draw = f"/queues/{condition.pk}/draw/"
    assert draw not in as_anna.get("/").content.decode()
    as_anna.post(draw)
    assert not Task.objects.filter(person=anna, topic=later).exists()
    after = create_campaign(name="Later", slug="later", acting_user=olga)
    page_of_anna = client_of(olga).get(f"/campaigns/later/people/{anna.pk}/")
    assert (page_of_anna.status_code, b"No work can be given" in page_of_anna.content) == (200, False)
    assert anna in assessors(after)
    switch_off()
    assert page(as_anna, bank).status_code == 200
    assert draw in as_anna.get("/").content.decode()
    as_anna.post(draw)
    assert Task.objects.filter(person=anna, topic=later).exists()


def test_an_organizer_of_another_campaign_is_not_barred(campaign: Campaign, otto: Person):
    assert barred_from(otto, campaign) is None


# Who has seen too much of a topic


@pytest.mark.parametrize(
    ("qid", "kind", "barred"),
    [
        ("t1", "nuggets", True),
        ("t1", "assignment", False),
        ("t1", "support", False),
        ("t1", "relevance", False),
        ("t2", "nuggets", False),
    ],
)
def test_exposure_counts_for_its_topic_and_kind(
    campaign: Campaign, condition: Condition, anna: Person, ben: Person, switch_off, qid: str, kind: str, barred: bool
):
    topics = {topic.qid: topic for topic in Topic.objects.filter(campaign=campaign)}
    record_exposure(anna, [topics[qid]], kind, "test")
    expected = {topics["t1"].pk} if barred else set()
    assert has_seen(anna, [topics["t1"]], condition) == expected
    assert has_seen(ben, [topics["t1"]], condition) == set()
    switch_off()
    assert has_seen(anna, [topics["t1"]], condition) == set()


def test_exposures_are_found_topic_by_topic(campaign: Campaign, condition: Condition, anna: Person):
    topics = list(Topic.objects.filter(campaign=campaign).order_by("qid"))
    assert has_seen(anna, topics, condition) == set()
    record_exposure(anna, topics, "nuggets", "the answers' page")
    record_exposure(anna, topics[:1], "nuggets", "again")
    assert has_seen(anna, topics, condition) == {topic.pk for topic in topics}
    assert has_seen(anna, topics[1:], condition) == {topics[1].pk}
    stored = Exposure.objects.order_by("pk").values_list("person__username", "topic__qid", "kind", "where")
    assert list(stored) == [
        ("anna", "t1", "nuggets", "the answers' page"),
        ("anna", "t2", "nuggets", "the answers' page"),
        ("anna", "t1", "nuggets", "again"),
    ]


def test_work_that_is_not_blind_needs_no_blind_person(
    topic: Topic, condition: Condition, unblind: Condition, anna: Person, olga: Person
):
    record_exposure(anna, [topic], "nuggets", "test")
    assert has_seen(anna, [topic], condition) == {topic.pk}
    assert has_seen(anna, [topic], unblind) == set()
    assert give_tasks(campaign=topic.campaign, topics=[topic], condition=unblind, person=anna, acting_user=olga)


@pytest.mark.parametrize(
    ("method", "blind"),
    [
        ("ManualNuggets", True),
        ("AutoNuggets", False),
        ("AutoNuggets+Edits", False),
        ("ManualAssign", True),
        ("AutoAssign", False),
        ("ManualGrade", True),
        ("grading post-edited", False),
        ("AutoGrade", False),
        ("support from scratch", True),
        ("support post-edited", False),
        ("support automatic", False),
        ("manual relevance", True),
        ("relevance post-edited", False),
        ("UMBRELA", False),
        ("imported", False),
    ],
)
def test_which_methods_are_blind(method: str, blind: bool):
    owners = [kind.name for kind in condition_kinds() if method in kind.methods]
    assert {Condition(kind=kind, method=method).is_blind() for kind in owners or ("nuggets", "support")} == {blind}
    assert method in dict(method_choices())


# Giving tasks


def test_topics_are_refused_together_for_who_has_seen_some(
    campaign: Campaign, condition: Condition, import_file, anna: Person, ben: Person, olga: Person, switch_off
):
    import_file(campaign, "topics", "t3\tthree\n")
    topics = list(Topic.objects.filter(campaign=campaign).order_by("-qid"))
    record_exposure(anna, [topic for topic in topics if topic.qid != "t2"], "nuggets", "test")
    given = {"campaign": campaign, "condition": condition, "acting_user": olga}
    with pytest.raises(PlanError) as refused:
        give_tasks(topics=topics, person=anna, **given)
    assert str(refused.value) == "anna has seen LLM output of this kind on t1, t3, and ManualNuggets is done blind."
    assert (Task.objects.count(), NuggetBank.objects.count()) == (0, 0)
    assert len(give_tasks(topics=topics[:1], person=ben, **given)) == 1
    assert [task.topic.qid for task in give_tasks(topics=[topics[1]], person=anna, **given)] == ["t2"]
    switch_off()
    assert [task.topic.qid for task in give_tasks(topics=[topics[2]], person=anna, **given)] == ["t1"]


def test_an_organizer_is_refused_even_as_an_assessor(
    campaign: Campaign, condition: Condition, topic: Topic, anna: Person, olga: Person, switch_off
):
    organizer = add_member(campaign=campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    end_membership(membership=organizer, acting_user=olga)
    given = {"campaign": campaign, "topics": [topic], "condition": condition, "person": anna, "acting_user": olga}
    with pytest.raises(PlanError, match=r"^anna organizes Study, or did; "):
        give_tasks(**given)
    assert Task.objects.count() == 0
    switch_off()
    assert len(give_tasks(**given)) == 1


# What was seen after the task was given


@pytest.mark.parametrize("verb", [None, *WRITES])
def test_who_sees_it_later_is_shut_out_of_page_and_writes(
    written: NuggetBank, anna: Person, as_anna: Client, switch_off, verb: str | None
):
    def ask() -> HttpResponse:
        return send(as_anna, written, verb, **WRITES[verb]) if verb else page(as_anna, written)

    record_exposure(anna, [written.topic], "assignment", "test")
    record_exposure(anna, [Topic.objects.get(qid="t2")], "nuggets", "test")
    assert page(as_anna, written).status_code == 200
    record_exposure(anna, [written.topic], "nuggets", "test")
    edits = written.edits.count()
    response = ask()
    assert response.status_code == 403
    assert SEEN in response.content.decode()
    assert "Cats purr when content" not in response.content.decode()
    assert written.edits.count() == edits
    switch_off()
    assert ask().status_code == 200


@pytest.mark.parametrize("verb", [None, *WRITES])
def test_who_comes_to_organize_is_shut_out_of_page_and_writes(
    written: NuggetBank, anna: Person, olga: Person, as_anna: Client, verb: str | None
):
    add_member(campaign=written.condition.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    edits = written.edits.count()
    response = send(as_anna, written, verb, **WRITES[verb]) if verb else page(as_anna, written)
    assert response.status_code == 403
    assert "anna organizes Study, or did; an organizer isn&#x27;t an assessor" in response.content.decode()
    assert written.edits.count() == edits


def test_finished_work_can_still_be_read(written: NuggetBank, anna: Person, as_anna: Client):
    assert send(as_anna, written, "finish").status_code == 200
    record_exposure(anna, [written.topic], "nuggets", "test")
    assert page(as_anna, written).status_code == 200
    for verb, fields in WRITES.items():
        assert send(as_anna, written, verb, **fields).status_code == 409


# What the editor shows


def test_a_models_grades_leave_no_trace_in_the_editor(
    written: NuggetBank, campaign: Campaign, import_file, as_anna: Client
):
    """A model's grades change the order, add a passage and take one away, wherever they are read."""

    def answers() -> list[tuple[bytes, dict[str, str]]]:
        late = send(as_anna, written, "undo", version="0")
        responses = [page(as_anna, written), send(as_anna, written, "reword", text="a"), late]
        assert [response.status_code for response in responses] == [200, 200, 409]
        return [(response.content, dict(response.items()) | {"Expires": ""}) for response in responses]

    segments = [{"docid": "only-umbrela", "title": "Hidden", "segment": "Nobody may read this."}]
    assert import_file(campaign, "segments", segments).state == "done"
    before = answers()
    grades = "t1 0 d1 1\nt1 0 d2 3\nt1 0 d3 2\nt1 0 d4 0\nt1 0 only-umbrela 3\n"
    assert import_file(campaign, "qrels", grades, source="UMBRELA", by="model").state == "done"
    after = answers()
    for (content, headers), (content_before, headers_before) in zip(after, before, strict=True):
        assert content == content_before
        for hidden in ("UMBRELA", "only-umbrela", "Hidden", "Nobody may read this", "d3", "Dogs"):
            assert hidden not in content.decode()
            assert hidden not in str(headers)
        assert headers.keys() == headers_before.keys()
    body = after[0][0].decode()
    assert [body.count(f"grade {grade}<") for grade in range(4)] == [0, 1, 0, 1]
    assert body.index("grade 3<") < body.index("Cats have many voices.")
