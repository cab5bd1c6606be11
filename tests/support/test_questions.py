"""What a person could not judge or flagged of citations, and what the organizer does about it."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.labels.manual_setups import label_again
from assessor.labels.models import ManualSetup
from assessor.work.models import Task
from metaeval.stats.means import COMPLETE, INCOMPLETE
from support.exports import support_lines
from support.models import LabelEvent, SupportSheet
from support.score_arrays import load_scores
from tests.conftest import client_of
from tests.judging import counters, give, put, said, send, sign_off, url
from tests.support.judging_helpers import from_scratch, load_runs, post_edited, sheet_of
from tests.support.test_preparation import label_all


@pytest.fixture
def scratch(campaign: Campaign, import_file) -> Condition:
    load_runs(campaign, import_file)
    return from_scratch(campaign)


@pytest.fixture
def sheet(scratch: Condition, topic: Topic, anna: Person, as_anna: Client) -> SupportSheet:
    """Anna's sheet of team.one, signed off: she can't judge the first citation, and flags the second."""
    task = give(scratch, topic, anna)
    sheet = sheet_of(task, "team.one")
    label_all(as_anna, task, "partial")
    assert send(as_anna, sheet, "cannot", "0.0", reason="heals <whom>?").status_code == 200
    assert send(as_anna, sheet, "flag", "1.0", note="too broad").status_code == 200
    assert sign_off(as_anna, task).status_code == 200
    return SupportSheet.objects.get(pk=sheet.pk)


@pytest.fixture
def other(sheet: SupportSheet, scratch: Condition, topic: Topic, ben: Person, olga: Person) -> SupportSheet:
    """Ben's, blind to Anna's: all of it is supported."""
    second = label_again(of=scratch, name="second", purpose="second", acting_user=olga)
    task = give(second, topic, ben)
    label_all(client_of(ben), task, "full")
    return sheet_of(task, "team.one")


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def address(condition: Condition, name: str = "support_questions") -> str:
    return reverse(name, args=[condition.campaign.slug, condition.pk])


def post(client: Client, condition: Condition, name: str, **fields: object) -> str:
    response = client.post(address(condition, name), fields, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def adopt(client: Client, sheet: SupportSheet, item: str, other: SupportSheet) -> str:
    return post(client, sheet.condition, "resolve_support_label", sheet=sheet.pk, item=item, other=other.pk)


def leave_out(client: Client, sheet: SupportSheet, item: str, reason: str) -> str:
    return post(client, sheet.condition, "leave_citation_out", sheet=sheet.pk, item=item, reason=reason)


def score(condition: Condition) -> tuple[int, list[float]]:
    """Return the state of team.one's answer to t1, and its weighted precision and recall."""
    found = load_scores(condition)
    at = [run.tag for run in found.runs].index("team.one")
    return int(found.states[at, 0]), found.scores[at, 0, :2].tolist()


def exported(condition: Condition) -> list[list[str | None]]:
    """Return what an export has of team.one's citations on t1, by sentence."""
    lines = [json.loads(line) for line in support_lines(condition)]
    [line] = [line for line in lines if (line["run_id"], line["topic_id"]) == ("team.one", "t1")]
    return [[cited.get("support") for cited in one["citations"]] for one in line["sentences"]]


def test_the_page_names_what_is_open_with_what_others_said(as_olga: Client, other, scratch, campaign: Campaign):
    page = as_olga.get(address(scratch), follow=True).content.decode()
    for told in ("heals &lt;whom&gt;?", "too broad", "team.one", "Cats purr to heal.", "d1", "Take full by ben"):
        assert told in page
    assert "team.two" not in page
    assert page.count(">Count it as not judged<") == 1
    assert f"topic={other.answer.topic_id}&amp;run={other.answer.run_id}" in page
    of_condition = f"/campaigns/{campaign.slug}/conditions/{scratch.pk}/"
    assert address(scratch) in as_olga.get(of_condition).content.decode()


def test_only_conditions_in_which_people_judge_have_open_questions(as_olga: Client, scratch, campaign):
    edited = post_edited(campaign)
    for condition, has_questions in ((edited, True), (edited.shown, False)):
        page = as_olga.get(f"/campaigns/{campaign.slug}/conditions/{condition.pk}/").content.decode()
        assert (address(condition) in page) is has_questions


def test_a_label_of_another_person_counts_but_stands_apart(as_olga: Client, sheet, other, scratch, as_anna: Client):
    assert score(scratch)[0] == INCOMPLETE
    assert exported(scratch) == [[None], ["1"], []]
    assert "Settled: the other person&#x27;s label counts." in adopt(as_olga, sheet, "0.0", other)
    sheet.refresh_from_db()
    assert (sheet.adopted, sheet.labels) == ({"0.0": "full"}, {"1.0": "partial"})
    assert sheet.cannot == {"0.0": "heals <whom>?"}
    revision = LabelEvent.objects.filter(sheet=sheet).latest("version")
    assert (revision.verb, revision.judge, revision.task) == ("adopted", other.judge, None)
    assert revision.reason == "adopted by olga from second"
    event = Event.objects.get(verb="label adopted")
    assert event.details == {"answer": "team.one t1", "item": "0 d1", "label": "full", "from": "second"}
    assert score(scratch) == (COMPLETE, [0.75, 0.5])
    assert exported(scratch) == [["2"], ["1"], []]
    assert "settled: full" in as_olga.get(f"{address(scratch)}?state=settled", follow=True).content.decode()
    # It is not for her eyes, and does not stand there any more once she can judge after all.
    [stands] = said(as_anna.get(url(sheet)))
    assert (stands["labels"], stands["cannot"]) == ({"1.0": "partial"}, {"0.0": "heals <whom>?"})
    assert "full" not in str(stands)


def test_what_nobody_can_judge_counts_as_not_judged(as_olga: Client, sheet, scratch, olga):
    page = leave_out(as_olga, sheet, "0.0", "no  whole sentence")
    assert "Settled: it counts as not judged. The history says why." in page
    assert "settled: not judged" in as_olga.get("/campaigns/study/asked/?state=settled").content.decode()
    sheet.refresh_from_db()
    assert (sheet.adopted, sheet.cannot) == ({"0.0": "not judged"}, {"0.0": "heals <whom>?"})
    revision = LabelEvent.objects.filter(sheet=sheet).latest("version")
    assert (revision.verb, revision.judge) == ("decided", None)
    assert revision.reason == "not judged, says olga: no whole sentence"
    event = Event.objects.get(verb="label decided")
    assert (event.person, event.details["reason"], event.details["label"]) == (
        olga,
        "no whole sentence",
        "not judged",
    )
    looked_back = as_olga.get(f"/campaigns/{scratch.campaign.slug}/pairs/").content.decode()
    assert "it counts as not judged" in looked_back
    assert "was taken from another person" not in looked_back
    # Its sentence leaves the answer: a half of one that is left, and of two with the one that cites nothing.
    assert score(scratch) == (COMPLETE, [0.5, 0.25])
    assert exported(scratch) == [["-1"], ["1"], []]


def refused(page: str, sheet: SupportSheet, why: str) -> None:
    assert why in page
    before = sheet.version
    sheet.refresh_from_db()
    assert (sheet.adopted, sheet.version) == ({}, before)
    assert not Event.objects.filter(verb__in=("label adopted", "label decided")).exists()


def test_nothing_else_is_adopted(as_olga: Client, sheet, other, topic):
    mine = sheet_of(sheet.task, "team.two")
    refused(adopt(as_olga, sheet, "1.0", other), sheet, "This label is not missing any more")
    refused(adopt(as_olga, sheet, "7.7", other), sheet, "This label is not missing any more")
    refused(adopt(as_olga, sheet, "0.0", sheet_of(other.task, "team.two")), sheet, "That is no other person")
    refused(adopt(as_olga, sheet, "0.0", mine), sheet, "That is no other person")
    refused(adopt(as_olga, sheet, "0.0", sheet), sheet, "That is no other person")
    put([other], labels={}, cannot={"0.0": "?"}, adopted={"0.0": "none"})
    refused(adopt(as_olga, sheet, "0.0", other), sheet, "has no label there that counts")


def test_nothing_else_is_left_out(as_olga: Client, sheet):
    refused(leave_out(as_olga, sheet, "1.0", "so"), sheet, "This label is not missing any more")
    refused(leave_out(as_olga, sheet, "x", "so"), sheet, "This label is not missing any more")
    for reason in (" ", "x" * 501, "a\x00b"):
        refused(leave_out(as_olga, sheet, "0.0", reason), sheet, "Say why, in at most 500 characters.")
    assert "it counts as not judged" in leave_out(as_olga, sheet, "0.0", "x" * 500)
    assert "This label is not missing any more" in leave_out(as_olga, sheet, "0.0", "again")
    assert len(LabelEvent.objects.filter(sheet=sheet).latest("version").reason) == 500


def test_nothing_is_settled_while_the_first_person_may_still_say_something(as_olga: Client, sheet, other):
    Task.objects.filter(pk=sheet.task_id).update(state="open")
    refused(adopt(as_olga, sheet, "0.0", other), sheet, "anna has not finished the topic")
    refused(leave_out(as_olga, sheet, "0.0", "so"), sheet, "anna has not finished the topic")
    Task.objects.filter(pk=sheet.task_id).update(state="withdrawn")  # she had to leave
    assert "Settled: the other person&#x27;s label counts." in adopt(as_olga, sheet, "0.0", other)


def test_a_change_at_the_same_moment_is_not_passed_over(sheet, other, olga):
    from assessor.labels.flags import ResolveError
    from support.actions import resolve_label

    SupportSheet.objects.filter(pk=sheet.pk).update(version=99)
    with pytest.raises(ResolveError, match="changed this answer at the same moment"):
        resolve_label(sheet=sheet, citation="0.0", other=other, acting_user=olga)


def test_a_repetition_is_nobody_elses_label(as_olga: Client, sheet, other):
    ManualSetup.objects.filter(condition=other.condition).update(purpose="repeat")
    assert "Take full" not in as_olga.get(address(sheet.condition), follow=True).content.decode()
    refused(adopt(as_olga, sheet, "0.0", other), sheet, "That is no other person")


def test_what_is_no_sheet_of_the_condition_is_not_there(as_olga: Client, sheet, other, scratch):
    for fields in (
        {"sheet": other.pk, "item": "0.0", "other": sheet.pk},
        {"sheet": "x", "item": "0.0", "other": other.pk},
        {"sheet": sheet.pk, "item": "0.0", "other": 0},
    ):
        assert as_olga.post(address(scratch, "resolve_support_label"), fields).status_code == 404
    fields = {"sheet": other.pk, "item": "0.0", "reason": "so"}
    assert as_olga.post(address(scratch, "leave_citation_out"), fields).status_code == 404


def test_who_judges_after_all_is_not_spoken_for(as_olga, sheet, other, scratch, topic, anna, as_anna, import_file):
    """A text that came later opens the topic again; then her own label counts."""
    adopt(as_olga, sheet, "0.0", other)
    import_file(scratch.campaign, "segments", [{"docid": "d4", "segment": "Fur is hair."}])
    assert counters(give(scratch, topic, anna)) == ("open", 3, 4)
    assert send(as_anna, sheet, "label", "0.0", label="none").status_code == 200
    sheet.refresh_from_db()
    assert (sheet.labels["0.0"], sheet.adopted, sheet.cannot) == ("none", {}, {})


def test_nothing_open_says_so(as_olga: Client, scratch: Condition, topic, anna):
    give(scratch, topic, anna)
    assert "No open questions" in as_olga.get(address(scratch), follow=True).content.decode()
