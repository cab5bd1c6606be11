"""Passages in several languages: what screens show of them, and who is given them."""

import io
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event, Membership, Topic
from assessor.plan.allocation_preview import Wished, propose
from assessor.plan.random_allocation import AllocationError
from assessor.preference.actions import create_preference
from assessor.work.actions import PlanError, draw_next, put_in_queue
from assessor.work.languages import foreign_languages, unread_in_words, unread_languages
from assessor.work.models import Task
from tests.conftest import Importer, client_of
from tests.judging import give
from tests.support.judging_helpers import from_scratch, run_file

pytestmark = pytest.mark.django_db

CHINESE = {"docid": "z1", "lang": "zho", "title": "猫", "segment": "猫会打呼噜。"}
TRANSLATED = {"docid": "z2", "lang": "rus", "segment": "Кошки мурлычут.", "translation": "Cats purr <loudly>."}
ENGLISH = {"docid": "e1", "lang": "EN", "segment": "Cats purr."}


@pytest.fixture
def abroad(campaign: Campaign, import_file: Importer) -> Campaign:
    """Answers to t1 that cite Chinese, translated Russian and English; to t2 English alone."""
    assert import_file(campaign, "segments", [CHINESE, TRANSLATED, ENGLISH]).state == "done"
    cited = {"t1": [("They purr.", ["z1"]), ("So they say.", ["z2", "e1"])], "t2": [("Glass is melted.", ["e1"])]}
    assert import_file(campaign, "runs", run_file("team.abroad", cited), name="team.abroad").state == "done"
    return campaign


@pytest.fixture
def judged(abroad: Campaign) -> Condition:
    """People judge what the answers cite."""
    return from_scratch(abroad)


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def reads(client: Client, campaign: Campaign, person: Person, languages: str) -> str:
    """Say what a person reads; return what the page answers."""
    address = reverse("set_languages", args=[campaign.slug, person.pk])
    return client.post(address, {"languages": languages}, follow=True).content.decode()


def test_a_passage_goes_out_as_it_came(abroad: Campaign):
    out = io.StringIO()
    call_command("export_segments", abroad.slug, stdout=out)
    records = {record["docid"]: record for record in map(json.loads, out.getvalue().splitlines())}
    assert [records[one["docid"]] for one in (CHINESE, TRANSLATED, ENGLISH)] == [CHINESE, TRANSLATED, ENGLISH]


def test_a_screen_shows_original_and_translation(judged: Condition, topic: Topic, anna: Person):
    task = give(judged, topic, anna)
    page = client_of(anna).get(reverse("support", args=[task.pk])).content.decode()
    assert '<p class="reading" dir="auto" lang="zho">猫会打呼噜。</p>' in page
    assert '<p class="quiet">Original, rus</p><p class="reading" dir="auto" lang="rus">Кошки мурлычут.</p>' in page
    assert "Cats purr &lt;loudly&gt;." in page
    assert page.count("Machine translation") == 1


def test_an_organizer_says_what_a_person_reads(abroad: Campaign, as_olga: Client, olga: Person, anna: Person):
    page = reads(as_olga, abroad, anna, "zho en  zho")
    assert 'value="en zho"' in page
    assert "Passages without a translation here are in: EN, zho." in page
    assert Membership.objects.get(campaign=abroad, person=anna, until=None).languages == "en zho"
    event = Event.objects.filter(verb="languages set").get()
    assert (event.person, event.details["languages"]) == (olga, "en zho")
    assert "is not a language code" in reads(as_olga, abroad, anna, "en 中文")
    many = " ".join(f"{one}{two}" for one in "abc" for two in "abcdefghijklmnopqrstuvwxyz")
    assert "These are too many languages." in reads(as_olga, abroad, anna, many)
    assert Membership.objects.get(campaign=abroad, person=anna, until=None).languages == "en zho"
    for role in ("organizer", "assessor"):
        as_olga.post(reverse("set_role", args=[abroad.slug, anna.pk]), {"role": role})
    assert Membership.objects.get(campaign=abroad, person=anna, until=None).languages == "en zho"


@pytest.mark.parametrize(("languages", "unread"), [("en", "zho"), ("rus", "EN, zho"), ("zho en", ""), ("", "")])
def test_who_gives_what_a_person_does_not_read_is_told(
    judged: Condition, as_olga: Client, anna: Person, languages: str, unread: str
):
    campaign = judged.campaign
    reads(as_olga, campaign, anna, languages)
    topics = list(campaign.topics.order_by("qid"))
    fields = {"topics": [topic.pk for topic in topics], "condition": [judged.pk], "person": anna.pk}
    answer = as_olga.post(reverse("plan_give", args=[campaign.slug]), fields)
    if unread:
        named = "t1" if languages == "en" else "t1, t2"
        told = (
            f"{judged}: passages of {named} are in a language that anna does not read, without a translation "
            f"({unread})."
        )
        assert told in answer.content.decode()
        assert not Task.objects.filter(condition=judged).exists()
        answer = as_olga.post(reverse("plan_give", args=[campaign.slug]), fields | {"confirmed": "1"})
    assert answer.status_code == 302
    assert Task.objects.filter(condition=judged, person=anna).count() == 2


def test_a_queue_gives_nobody_what_they_can_not_read(
    judged: Condition, as_olga: Client, olga: Person, anna: Person, ben: Person
):
    put_in_queue(condition=judged, topics=list(judged.campaign.topics.order_by("qid")), acting_user=olga)
    reads(as_olga, judged.campaign, anna, "en")
    assert draw_next(condition=judged, person=anna).topic.qid == "t2"
    reads(as_olga, judged.campaign, ben, "rus")
    with pytest.raises(PlanError, match="cannot read one of their languages"):
        draw_next(condition=judged, person=ben)
    reads(as_olga, judged.campaign, ben, "ZHO en")
    assert draw_next(condition=judged, person=ben).topic.qid == "t1"


def test_a_draw_gives_topics_to_who_reads_them(
    abroad: Campaign, import_file: Importer, as_olga: Client, condition: Condition, anna: Person, ben: Person
):
    """Passages of t1 are graded: one is Chinese."""
    graded = import_file(abroad, "qrels", "t1 0 z1 2\nt2 0 e1 2\n", source="NIST", by="people")
    assert graded.state == "done", graded.report
    reads(as_olga, abroad, anna, "en")
    reads(as_olga, abroad, ben, "en zho")
    for seed in range(8):
        wished = Wished([(condition, 2)], [anna, ben], None, "", None, 0, seed)
        given = {one.topic.qid: one.person for one in propose(abroad, wished).allotments}
        assert given == {"t1": ben, "t2": anna}
    reads(as_olga, abroad, ben, "en")
    with pytest.raises(AllocationError, match=r"t1 under .*: all have seen too much of it, or don't read"):
        propose(abroad, Wished([(condition, 2)], [anna, ben], None, "", None, 0, 1))


def test_what_a_screen_does_not_show_keeps_nobody_from_it(
    abroad: Campaign, import_file: Importer, as_olga: Client, condition: Condition, anna: Person
):
    """Chinese is graded as not relevant on t1, and compared answers have no passages."""
    assert import_file(abroad, "qrels", "t1 0 z1 0\nt1 0 e1 2\n", source="NIST", by="people").state == "done"
    reads(as_olga, abroad, anna, "en")
    topics = list(abroad.topics.order_by("qid"))
    compared = create_preference(campaign=abroad, name="Compared", acting_user=None)
    assert not list(unread_in_words(anna, topics, [condition, compared]))
    assert list(unread_in_words(anna, topics, [from_scratch(abroad)]))


def test_languages_are_looked_up_at_once_for_all_topics(judged: Condition, as_olga: Client, anna: Person):
    reads(as_olga, judged.campaign, anna, "en")
    topics = list(judged.campaign.topics.order_by("qid"))
    counts = []
    for some in (topics[:1], topics):
        with CaptureQueriesContext(connection) as found:
            unread_languages(foreign_languages([anna], judged.campaign), some, judged)
        counts.append(len(found))
    assert counts[0] == counts[1]


def test_nobody_else_says_what_people_read(abroad: Campaign, anna: Person):
    address = reverse("set_languages", args=[abroad.slug, anna.pk])
    assert client_of(anna).post(address, {"languages": "en"}).status_code == 404
