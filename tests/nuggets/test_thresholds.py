"""From which grade a passage is relevant: said with each condition of nuggets, on the scale of its qrels."""

import io

import pytest
from django.core.management import call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.work.actions import give_tasks
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from nuggets.queries import passages
from tests.conftest import client_of
from tests.llm.grading import make_judge

IDENTITY = "kind=nuggets; creation=ManualNuggets; qrels=NIST; protocol=trec-2024 v1"


def manual(campaign: Campaign, olga: Person, least: int | None, name: str = "Manual") -> Condition:
    source = campaign.qrels_sources.get(name="NIST")
    return create_manual_nuggets(
        campaign=campaign, name=name, qrels_source=source, min_relevant_grade=least, acting_user=olga
    )


def shown(condition: Condition, topic: Topic, person: Person, olga: Person) -> list[tuple[str, int]]:
    """Give a person the nuggets of a topic; return the passages that they see."""
    given = {"campaign": condition.campaign, "topics": [topic], "person": person, "acting_user": olga}
    [task] = give_tasks(condition=condition, **given)
    return [(passage.segment.docid, passage.grade) for passage in passages(NuggetBank.objects.get(task=task))[0]]


def test_each_condition_says_from_which_grade_passages_are_relevant(
    campaign: Campaign, topic: Topic, anna: Person, ben: Person, olga: Person
):
    usual, strict = manual(campaign, olga, None), manual(campaign, olga, 2, "Strict")
    assert (usual.identity, strict.identity) == (IDENTITY, IDENTITY.replace("NIST", "NIST; relevant=from 2"))
    assert shown(usual, topic, anna, olga) == [("d1", 3), ("d2", 1)]
    assert shown(strict, topic, ben, olga) == [("d1", 3)]
    # What the protocol says anyway makes no other condition.
    with pytest.raises(ConditionError, match="Manual is that condition already"):
        manual(campaign, olga, 1, "Again")


def test_what_nobody_judged_is_beside_no_list(
    campaign: Campaign, topic: Topic, anna: Person, olga: Person, import_file
):
    assert import_file(campaign, "qrels", "t1 0 d1 -1\nt1 0 d2 2\n", source="Partly", by="people").state == "done"
    condition = create_manual_nuggets(
        campaign=campaign, name="P", qrels_source=campaign.qrels_sources.get(name="Partly"), acting_user=olga
    )
    assert shown(condition, topic, anna, olga) == [("d2", 2)]


def test_a_grade_beyond_the_scale_of_the_source_is_refused(campaign: Campaign, olga: Person, import_file):
    why = "NIST is graded 0 to 3: no passage would be relevant from 4 on. Choose a lower grade."
    with pytest.raises(ConditionError, match=why):
        manual(campaign, olga, 4)
    import_file(campaign, "qrels", "t1 0 d5 4\n", source="NIST", by="people")
    assert manual(campaign, olga, 4).relevance_threshold == 4
    change_protocol(campaign=campaign, settings={"min_relevant_grade": 2}, acting_user=olga)
    later = Campaign.objects.get(pk=campaign.pk)
    assert manual(later, olga, None, "Later").relevance_threshold == 2
    lower = manual(later, olga, 1, "Lower")
    assert lower.identity == IDENTITY.replace("NIST", "NIST; relevant=from 1").replace("v1", "v2")


def test_the_form_asks_for_it_and_names_the_scale(campaign: Campaign, olga: Person):
    source, client = campaign.qrels_sources.get(name="NIST"), client_of(olga)
    address = "/campaigns/study/conditions/new/"
    assert f'<option value="{source.pk}">NIST, 0 to 3</option>' in client.get(address).content.decode()
    form = {"method": "ManualNuggets", "name": "Strict", "qrels_source": source.pk}
    for wrong in ("0", "5", "x"):
        assert client.post(address, form | {"min_relevant_grade": wrong}).status_code == 200
    assert "Choose a lower grade." in client.post(address, form | {"min_relevant_grade": "4"}).content.decode()
    assert client.post(address, form | {"min_relevant_grade": "2"}).status_code == 302
    assert Condition.objects.get().min_relevant_grade == 2


def test_a_job_and_its_command_take_it(campaign: Campaign, olga: Person):
    judge, source = make_judge(campaign), campaign.qrels_sources.get(name="NIST")
    asked = {"kind": "AutoNuggets", "judge": judge.pk, "qrels_source": source.pk, "topics": "t1", "replicate": "0"}
    client: Client = client_of(olga)
    client.post("/campaigns/study/jobs/new/", asked | {"min_relevant_grade": "2", "launch": "1"})
    assert "qrels=NIST; relevant=from 2; drafting=j" in Condition.objects.get(method="AutoNuggets").identity
    # From 1 on t1 lacks a text (d4's) and t2 has d5; from 3 on t1 has d1 alone, and t2 nothing.
    told = {}
    for least in (1, 3):
        given = {"judge": "j", "qrels": "NIST", "estimate": True, "stdout": (out := io.StringIO())}
        call_command("run_auto_nuggets", "study", min_relevant_grade=least, **given)
        told[least] = out.getvalue()
    assert told[1].startswith("About 4 calls, ")
    assert told[3].startswith("About 4 calls, ")
    assert told[1] != told[3]
