"""Setting a campaign up: the checklist, and studies whose conditions are made as soon as they can be."""

import re

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign, free_slug
from assessor.campaigns.models import Campaign, Condition, Role
from assessor.desk.setup import setup_of
from assessor.desk.study_templates import choose_study, chosen_template, planned, study_templates
from assessor.work.actions import give_tasks
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.llm.grading import make_judge

SETUP = "/campaigns/study/setup/"
EMPTY = ["Name the campaign", "Choose the protocol"]


def done(campaign: Campaign) -> list[str]:
    return [step.title for step in setup_of(campaign).steps if step.is_done]


def now(campaign: Campaign) -> str:
    step = setup_of(campaign).now
    return step.name if step else ""


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def test_a_new_campaign_asks_its_name_alone_and_leads_to_its_setup(as_olga, olga):
    olga.is_superuser = True
    olga.save()
    page = as_olga.get("/new-campaign/").content.decode()
    assert re.findall(r'<(?:input|select)[^>]* name="(?!csrf)(\w+)"', page) == ["name"]
    for address in ("trec-rag-2026", "trec-rag-2026-2"):
        response = as_olga.post("/new-campaign/", {"name": "TREC RAG 2026"})
        assert response["Location"] == f"/campaigns/{address}/setup/"
    assert as_olga.get(response["Location"]).status_code == 200


@pytest.mark.parametrize(("name", "slug"), [("Bees & Co.", "bees-co"), ("蜜蜂", "campaign"), ("x" * 120, "x" * 50)])
def test_a_short_name_is_made_from_the_name(db, name, slug):
    assert free_slug(name) == slug
    create_campaign(name=name, slug=slug, acting_user=None)
    assert free_slug(name) == f"{slug}-2"


def test_each_step_is_read_from_the_database(empty_campaign, olga, anna, import_file, as_olga):
    campaign = empty_campaign
    campaign.memberships.filter(role=Role.ASSESSOR).delete()
    assert (done(campaign), now(campaign)) == (EMPTY, "files")
    import_file(campaign, "topics", "t1\twhy\n")
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="NIST", by="people")
    assert now(campaign) == "study"
    page = as_olga.get(SETUP).content.decode()
    assert "<p>1 topic, 1 source of grades</p>" in page
    assert page.count('aria-current="step"') == 1
    as_olga.post(SETUP, {"study": "full"})
    assert now(campaign) == "people"
    add_member(campaign=campaign, person=anna, role=Role.ASSESSOR, acting_user=olga)
    assert now(campaign) == "work"
    condition = campaign.conditions.get(method="ManualNuggets")
    give_tasks(
        campaign=campaign, topics=list(campaign.topics.all()), condition=condition, person=anna, acting_user=olga
    )
    assert now(campaign) == ""
    assert "All six are done." in as_olga.get(SETUP).content.decode()
    assert NuggetBank.objects.count() == 1


def states(campaign: Campaign, key: str) -> dict[str, str]:
    return {one.part.name: "made" if one.condition else one.lacks for one in planned(campaign, study_templates()[key])}


FIRST = {
    "ManualNuggets": "people's grades",
    "Manual/Manual": "ManualNuggets first",
    "AutoNuggets+Edits": "a judge and people's grades",
    "Edits/Manual": "AutoNuggets+Edits first",
    "AutoNuggets": "a judge and grades",
    "Manual/Auto": "ManualNuggets first",
    "Edits/Auto": "AutoNuggets+Edits first",
    "Auto/Auto": "AutoNuggets first",
    "Support from scratch": "",
    "Support automatic": "a judge",
    "Support post-edited": "Support automatic first",
}


def next_step(client: Client) -> tuple[str, str] | None:
    """Return what the Overview says of conditions that are not made, if it does."""
    steps = client.get("/campaigns/study/").context["overview"].steps
    return next(((one.title, one.why) for one in steps if "condition" in one.title and "Make" in one.title), None)


def test_a_study_makes_what_it_can_and_the_rest_once_it_can(empty_campaign, olga, import_file, as_olga):
    campaign, full = empty_campaign, study_templates()["full"]
    import_file(campaign, "topics", "t1\twhy\n")
    assert states(campaign, "full") == FIRST
    assert [one.name for one in choose_study(campaign=campaign, template=full, acting_user=olga)] == [
        "Support from scratch"
    ]
    assert chosen_template(campaign) == full
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="UMBRELA", by="model")
    assert states(campaign, "full") == FIRST | {"AutoNuggets": "a judge", "Support from scratch": "made"}
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="NIST", by="people")
    page = as_olga.post(SETUP, {"study": "full"}, follow=True).content.decode()
    assert "Full TREC RAG study: 2 conditions made." in page
    assert "Needs a judge" in page
    assert next_step(as_olga) == ("Make 4 more conditions of Full TREC RAG study", "They need a judge.")
    make_judge(campaign)
    assert next_step(as_olga) == ("Make 3 more conditions of Full TREC RAG study", "All that they need is here.")
    made = choose_study(campaign=campaign, template=full, acting_user=olga)
    run = {"run_id": "r", "topic_id": "t1", "references": ["d1"], "answer": [{"text": "a", "citations": [0]}]}
    assert [one.name for one in made] == ["AutoNuggets+Edits", "Edits/Manual", "AutoNuggets"]
    import_file(campaign, "runs", [run])
    made = choose_study(campaign=campaign, template=full, acting_user=olga)
    assert [one.name for one in made] == ["Support automatic", "Support post-edited"]
    named = {one.name: one for one in campaign.conditions.all()}
    assert named["AutoNuggets+Edits"].qrels_source.name == named["ManualNuggets"].qrels_source.name == "NIST"
    assert named["AutoNuggets"].qrels_source.name == "UMBRELA"
    assert named["Edits/Manual"].nuggets == named["AutoNuggets+Edits"]
    assert named["Support post-edited"].shown == named["Support automatic"]
    assert next_step(as_olga) is None
    # Assignments by a model are a job's, once nuggets are finished.
    assert {name for name, state in states(campaign, "full").items() if state != "made"} == {
        "Manual/Auto",
        "Edits/Auto",
        "Auto/Auto",
    }
    assert choose_study(campaign=campaign, template=full, acting_user=olga) == []
    page = as_olga.get(SETUP).content.decode()
    assert ("can be made now" in page, ">Make the conditions</button>" in page) == (False, True)
    assert campaign.events.filter(verb="study chosen").count() == 1


def test_a_condition_that_is_there_already_is_not_made_again(campaign, olga):
    full, support = study_templates()["full"], study_templates()["support"]
    choose_study(campaign=campaign, template=full, acting_user=olga)
    before = set(campaign.conditions.all())
    Condition.objects.filter(method="support from scratch").update(name="Ours")
    assert choose_study(campaign=campaign, template=support, acting_user=olga) == []
    assert set(campaign.conditions.all()) == before
    assert chosen_template(campaign) == support
    assert states(campaign, "support")["Support from scratch"] == "made"


def test_every_template_can_be_read_and_builds_on_what_comes_before_it():
    for template in study_templates().values():
        names: list[str] = []
        for part in template.parts:
            assert part.method
            assert not part.on or part.on in names
            names.append(part.name)
    assert {key: round(one.hours, 1) for key, one in study_templates().items()} == {
        "full": 3.5,
        "edits": 1.0,
        "support": 0,
        "audit": 0,
        "empty": 0,
    }


@pytest.mark.parametrize("study", ["", "none"])
def test_a_study_that_there_is_not_makes_nothing(campaign, as_olga, study):
    page = as_olga.post(SETUP, {"study": study}, follow=True).content.decode()
    assert "No study was chosen." in page
    assert (campaign.conditions.count(), chosen_template(campaign)) == (0, None)
