"""What a person could not judge or flagged, and what the organizer does about it."""

import pytest
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event, Topic
from assessor.labels.manual_setups import label_again
from assessor.labels.models import ManualSetup
from assessor.work.models import Task
from assignment.models import AnswerSheet, LabelEvent, LeftOut
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, C, sheet_of
from tests.conftest import client_of
from tests.judging import give, put


@pytest.fixture
def sheet(task: Task, nugget_ids) -> AnswerSheet:
    """Anna's sheet of team.one: she can't judge A, and flags B."""
    sheet = sheet_of(task, "team.one")
    said = {nugget_ids[A]: {"cannot": "heals <whom>?"}, nugget_ids[B]: {"label": "support", "flag": "too broad"}}
    sheet.revise("cannot", said, judge_id=sheet.judge_id)
    return sheet


@pytest.fixture
def other(sheet: AnswerSheet, manual: Condition, topic: Topic, ben: Person, olga: Person, nugget_ids) -> AnswerSheet:
    """Ben's, blind to Anna's: A is partly there."""
    second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
    other = sheet_of(give(second, topic, ben), "team.one")
    Task.objects.filter(pk=sheet.task_id).update(state="finished")
    other.revise("label", {nugget_ids[A]: {"label": "partial_support"}}, judge_id=other.judge_id)
    return other


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def address(condition: Condition, name: str = "assignment_questions") -> str:
    return reverse(name, args=[condition.campaign.slug, condition.pk])


def post(client: Client, condition: Condition, name: str, **fields: object) -> str:
    response = client.post(f"{address(condition, name)}?state=settled", fields, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def adopt(client: Client, sheet: AnswerSheet, nugget: int, other: AnswerSheet) -> str:
    return post(client, sheet.condition, "resolve_label", sheet=sheet.pk, nugget=nugget, other=other.pk)


def test_the_page_names_what_is_open_with_what_others_said(as_olga: Client, other: AnswerSheet, manual: Condition):
    page = as_olga.get(address(manual), follow=True).content.decode()
    for said in ("heals &lt;whom&gt;?", "too broad", "team.one", "purring heals", "Take partial_support by ben"):
        assert said in page
    assert "team.two" not in page


def test_a_label_of_another_person_counts_but_stands_apart(as_olga: Client, sheet, other, nugget_ids):
    assert "Settled: the other person&#x27;s label counts." in adopt(as_olga, sheet, nugget_ids[A], other)
    sheet.refresh_from_db()
    key = str(nugget_ids[A])
    assert sheet.adopted == {key: "partial_support"}
    assert key not in sheet.labels
    assert sheet.cannot[key] == "heals <whom>?"
    revision = LabelEvent.objects.filter(sheet=sheet).latest("version")
    assert (revision.verb, revision.judge) == ("adopted", other.judge)
    assert Event.objects.get(verb="label adopted").details["label"] == "partial_support"


def refused(as_olga: Client, sheet: AnswerSheet, nugget: int, other: AnswerSheet, why: str) -> None:
    before = LabelEvent.objects.count()
    assert why in adopt(as_olga, sheet, nugget, other)
    assert LabelEvent.objects.count() == before
    sheet.refresh_from_db()
    assert sheet.adopted == {}


def test_nothing_else_is_adopted(as_olga: Client, sheet, other, task, nugget_ids):
    refused(as_olga, sheet, nugget_ids[B], other, "This label is not missing any more")
    refused(as_olga, sheet, nugget_ids[A], sheet_of(other.task, "team.two"), "That is no other person")
    refused(as_olga, sheet, nugget_ids[A], sheet_of(task, "team.two"), "That is no other person")
    put([other], edition=7)
    refused(as_olga, sheet, nugget_ids[A], other, "has no label there that counts")
    put([other], edition=1, labels={})
    refused(as_olga, sheet, nugget_ids[A], other, "has no label there that counts")


def test_nothing_is_adopted_while_the_first_person_may_still_say_something(as_olga: Client, sheet, other, nugget_ids):
    Task.objects.filter(pk=sheet.task_id).update(state="open")
    refused(as_olga, sheet, nugget_ids[A], other, "anna has not finished the topic")


def test_it_is_adopted_where_the_first_person_had_to_leave(as_olga: Client, sheet, other, nugget_ids):
    Task.objects.filter(pk=sheet.task_id).update(state="withdrawn")
    assert "Settled: the other person&#x27;s label counts." in adopt(as_olga, sheet, nugget_ids[A], other)


def test_a_repetition_is_nobody_elses_label(as_olga: Client, sheet, other, nugget_ids):
    ManualSetup.objects.filter(condition=other.condition).update(purpose="repeat")
    assert "Take partial_support" not in as_olga.get(address(sheet.condition), follow=True).content.decode()
    refused(as_olga, sheet, nugget_ids[A], other, "That is no other person")


def test_what_is_no_sheet_of_the_condition_is_not_there(as_olga: Client, sheet, other, manual, nugget_ids):
    for fields in (
        {"sheet": other.pk, "nugget": nugget_ids[A], "other": sheet.pk},
        {"sheet": sheet.pk, "nugget": "x", "other": other.pk},
        {"sheet": sheet.pk, "nugget": nugget_ids[A], "other": 0},
    ):
        assert as_olga.post(address(manual, "resolve_label"), fields).status_code == 404


def test_a_nugget_is_left_out_and_taken_back_each_with_a_reason(as_olga: Client, sheet, manual, nugget_ids, olga):
    nugget = nugget_ids[A]
    assert "Say why" in post(as_olga, manual, "leave_nugget_out", nugget=nugget, out=1, reason=" ")
    assert not LeftOut.objects.exists()
    page = post(as_olga, manual, "leave_nugget_out", nugget=nugget, out=1, reason="nobody  can tell")
    assert "Left out of the scores" in page
    assert "nobody can tell" in page
    record = LeftOut.objects.get()
    assert (record.condition, record.nugget_id, record.is_out, record.person) == (manual, nugget, True, olga)
    assert "That is so already" in post(as_olga, manual, "leave_nugget_out", nugget=nugget, out=1, reason="again")
    assert "Left out of the scores" not in post(as_olga, manual, "leave_nugget_out", nugget=nugget, out=0, reason="ok")
    assert list(LeftOut.objects.values_list("is_out", flat=True)) == [True, False]
    assert [event.verb for event in Event.objects.filter(verb__startswith="nugget ").order_by("pk")] == [
        "nugget left out",
        "nugget taken back",
    ]


def test_a_nugget_of_other_nuggets_is_not_left_out(as_olga: Client, finished: NuggetBank, manual: Condition, topic):
    other = Condition.objects.create(
        campaign=manual.campaign, name="o", kind="nuggets", method="imported", protocol=manual.protocol
    )
    bank = NuggetBank.objects.create(topic=topic, condition=other, maker=finished.maker)
    nugget = bank.nuggets.create(uid=C, text="x", made_by=finished.maker)
    fields = {"nugget": nugget.pk, "out": 1, "reason": "no"}
    assert as_olga.post(address(manual, "leave_nugget_out"), fields).status_code == 404


def test_nothing_open_says_so(as_olga: Client, task: Task, manual: Condition):
    assert "No open questions" in as_olga.get(address(manual), follow=True).content.decode()
