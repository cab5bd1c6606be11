"""The page of the plan: planning, what waits, changes that are told before they are made."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event, Invitation, Role, Run, Topic
from assessor.plan.actions import advance, plan_work
from assessor.plan.models import Planned
from assessor.work.actions import PlanError, draw_next, withdraw_task
from assessor.work.models import Scope, Task, Waiting
from assignment.actions import create_manual_assign
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, run_file, sheet_of
from tests.conftest import client_of, make_person
from tests.judging import all_judged, label_all
from tests.nuggets.conftest import do, fill
from tests.nuggets.model import draft, make_condition, make_model
from tests.support.judging_helpers import from_scratch

PLAN = "/campaigns/study/plan/"
GIVE = f"{PLAN}give/"


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def waiting(condition: Condition, bank: NuggetBank, answered, as_olga: Client, anna: Person) -> Condition:
    """ManualAssign on t1, planned for Anna while her nuggets are not finished."""
    manual = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)
    form = {"topics": [bank.topic_id], "condition": manual.pk, "person": anna.pk}
    page = as_olga.post(GIVE, form, follow=True).content.decode()
    why = "The nuggets of t1 under ManualNuggets are not finished."
    assert f"Waiting under Manual/Manual: 1 topic. {why}" in page
    assert f'<span class="n">waits</span></a><span class="sub">{why}</span>' in page
    assert "<strong>1 piece of work waits for earlier work.</strong> It starts by itself." in page
    return manual


def finish(bank: NuggetBank) -> None:
    fill(bank, (A, "purring heals", "vital"))
    do(bank, nugget_actions.finish_bank)


def sent(page: str) -> dict[str, str | list[str]]:
    """Return what a page that asks whether a change is meant would send."""
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    found: dict[str, str | list[str]] = {}
    for name, value in pairs:
        found[name] = [*found.get(name, []), unescape(value)]
    return found


def test_who_made_the_nuggets_gets_their_assignment_as_soon_as_they_are_finished(
    waiting: Condition, bank: NuggetBank, anna: Person, olga: Person, django_capture_on_commit_callbacks: Callable
):
    assert not Task.objects.filter(condition=waiting).exists()
    with django_capture_on_commit_callbacks(execute=True):
        finish(bank)
    task = Task.objects.get(condition=waiting)
    assert (task.person, task.created_by, task.state) == (anna, olga, "open")
    assert len(all_judged(task)) == 3
    assert not Planned.objects.exists()
    assert (advance(waiting.campaign), Task.objects.filter(condition=waiting).count()) == (0, 1)


def test_the_page_looks_whether_what_waits_is_there(
    waiting: Condition, bank: NuggetBank, as_olga: Client, anna: Person
):
    assert f'hx-post="{PLAN}advance/" hx-trigger="load, submit"' in as_olga.get(PLAN).content.decode()
    response = as_olga.post(f"{PLAN}advance/", headers={"HX-Request": "true"})
    assert (response.status_code, response.has_header("HX-Refresh")) == (204, False)
    finish(bank)
    response = as_olga.post(f"{PLAN}advance/", headers={"HX-Request": "true"})
    assert (response.status_code, response["HX-Refresh"]) == (204, "true")
    page = as_olga.get(PLAN).content.decode()
    assert ("Started: 1 piece of work that had waited." in page, "advance" in page) == (True, False)
    assert Task.objects.get(condition=waiting).person == anna


def test_what_an_import_brings_is_given_at_once(campaign, topic: Topic, anna: Person, olga: Person, import_file):
    condition = from_scratch(campaign)
    outcome = plan_work(condition=condition, topics=[topic], person=anna, acting_user=olga)
    [row] = outcome.waiting
    assert row.waits_for == "There is no answer to t1 yet."
    import_file(campaign, "runs", run_file("team.one", {"t1": ["Cats purr."]}), name="team.one")
    assert (Task.objects.get().person, Planned.objects.count()) == (anna, 0)


@pytest.fixture
def in_queries() -> Callable[[Callable[[], object]], int]:
    """Return how many queries something takes."""

    def count(act: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as queries:
            act()
        return len(queries)

    return count


def test_looking_whether_what_waits_is_there_takes_as_many_queries_however_much_it_is(
    campaign, condition: Condition, anna: Person, ben: Person, olga: Person, import_file, in_queries
):
    import_file(campaign, "topics", "".join(f"many{number:02}\tnothing\n" for number in range(40)))
    manual = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)
    scratch = from_scratch(campaign)
    drafted = Condition.objects.create(
        campaign=campaign, name="Edits", kind="nuggets", method="AutoNuggets+Edits", protocol=campaign.protocol
    )
    topics = list(campaign.topics.filter(qid__startswith="many").order_by("qid"))

    def plan(some: list[Topic]) -> None:
        for of in (manual, scratch, drafted):
            for person, part in ((anna, some[::2]), (ben, some[1::2])):
                outcome = plan_work(condition=of, topics=part, person=person, acting_user=olga)
                assert len(outcome.waiting) == len(part)

    plan(topics[:4])
    few = in_queries(lambda: advance(campaign))
    plan(topics[4:])
    assert Planned.objects.count() == 120
    advance(campaign)
    assert in_queries(lambda: advance(campaign)) == few
    Planned.objects.update(waits_for="It was planned a moment ago.")
    assert in_queries(lambda: advance(campaign)) <= few + 3
    assert set(Planned.objects.filter(topic=topics[9]).values_list("waits_for", flat=True)) == {
        "The nuggets of many09 under ManualNuggets are not finished.",
        "There is no answer to many09 yet.",
        "Under Edits there are no drafts yet on many09: have them made first.",
    }


def test_what_goes_wrong_then_keeps_no_import_from_being_done(campaign, olga: Person, import_file, monkeypatch, caplog):
    from assessor.campaigns.signals import import_done

    def fail(import_record: object, **_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(import_done, "receivers", [])
    import_done.connect(fail)
    assert import_file(campaign, "topics", "t7\tnothing\n").state == "done"
    assert "RuntimeError: no" in caplog.text


def test_a_row_for_whoever_draws_it_waits_too(
    waiting: Condition, bank: NuggetBank, as_olga: Client, anna: Person, ben: Person, olga: Person
):
    [row] = Planned.objects.all()
    with pytest.raises(PlanError, match="t1 is planned under Manual/Manual for anna"):
        plan_work(condition=waiting, topics=[bank.topic], person=None, acting_user=olga)
    as_olga.post(f"{PLAN}planned/{row.pk}/take-back/")
    assert not Planned.objects.exists()
    plan_work(condition=waiting, topics=[bank.topic], person=None, reason="all may", acting_user=olga)
    finish(bank)
    assert advance(waiting.campaign) == 1
    assert [(one.topic, one.reason) for one in Waiting.objects.all()] == [(bank.topic, "all may")]
    assert draw_next(condition=waiting, person=ben).person == ben


def test_what_a_person_can_never_have_is_not_planned_for_them(waiting: Condition, bank: NuggetBank, olga: Person):
    Planned.objects.all().delete()
    with pytest.raises(PlanError, match="olga is not an assessor of Study"):
        plan_work(condition=waiting, topics=[bank.topic], person=olga, acting_user=olga)
    assert not Planned.objects.exists()


@pytest.mark.parametrize("key", ["9" * 30, "-1", "\u0663", "t1"])
def test_what_is_no_key_of_a_topic_is_refused(campaign, condition: Condition, anna: Person, as_olga: Client, key: str):
    form = {"topics": [key], "condition": condition.pk, "person": anna.pk}
    page = as_olga.post(GIVE, form)
    assert page.status_code == 200
    assert "is not a valid value" in unescape(page.content.decode())
    assert not Task.objects.exists()


def test_several_kinds_of_work_are_given_at_once_all_or_none(
    condition: Condition, manual: Condition, campaign, anna: Person, ben: Person, as_olga: Client
):
    topic = campaign.topics.get(qid="t2")
    both = [manual.pk, condition.pk]
    form = {"topics": [topic.pk], "condition": manual.pk, "person": ben.pk, "rule": "1 per team"}
    as_olga.post(GIVE, form)
    # The second of both is Ben's already: Anna gets neither.
    page = as_olga.post(GIVE, form | {"condition": both, "person": anna.pk}).content.decode()
    assert not Task.objects.filter(topic=topic).exists()
    page = as_olga.post(GIVE, form | {"condition": both}, follow=True).content.decode()
    assert f"ben has 1 topic under {condition}. Waiting under {manual}: 1 topic." in page
    assert Task.objects.get(topic=topic).condition == condition
    assert (Planned.objects.get().condition, Scope.objects.get().condition) == (manual, manual)
    assert "Choose the work." in as_olga.post(GIVE, form | {"condition": []}).content.decode()


def test_a_change_says_what_it_touches_before_it_is_made(
    manual: Condition, task: Task, as_anna: Client, as_olga: Client, ben: Person
):
    for tag in ("team.one", "team.two"):
        label_all(as_anna, sheet_of(task, tag))
    Run.objects.filter(tag="team.two").update(priority=1)
    address = f"{PLAN}work/{manual.pk}/{task.topic_id}/"
    form = {
        "condition": manual.pk,
        "person": task.person_id,
        "rule": "priority<=1",
        "reason": "few",
        "seen": "anna, all, open",
    }
    page = as_olga.post(address, form).content.decode()
    assert "2 answers with 6 labels leave the scores." in page
    assert "1 task changes." in page
    assert (Scope.objects.count(), Event.objects.filter(verb="runs to judge").count()) == (0, 0)
    response = as_olga.post(address, form | {"confirmed": "1"})
    assert (response.status_code, response["Location"]) == (302, PLAN)
    assert Scope.objects.get().rule == "priority<=1"
    assert '<span class="chip plain">runs: priority&lt;=1</span>' in as_olga.get(PLAN).content.decode()
    late = as_olga.post(address, form | {"person": ben.pk, "confirmed": "1"})
    assert late.status_code == 409
    assert (
        "You saw: <strong>anna, all, open</strong>. It is now: <strong>anna, priority&lt;=1, open</strong>"
        in late.content.decode()
    )
    assert Task.objects.get(condition=manual).person == task.person
    form |= {"seen": "anna, priority<=1, open", "person": ben.pk, "reason": ""}
    assert "Say why t1 is to be ben" in as_olga.post(address, form | {"confirmed": "1"}).content.decode()
    page = as_olga.post(address, form | {"reason": "ill"}).content.decode()
    assert "anna loses the task (answers 1/1). Finished labels count; the rest starts again." in page
    assert "This is no rule of runs" in as_olga.post(address, form | {"rule": "best"}).content.decode()


def test_a_rule_for_many_topics_says_so_too(
    manual: Condition, task: Task, as_anna: Client, as_olga: Client, anna: Person
):
    label_all(as_anna, sheet_of(task, "team.one"))
    form = {"topics": [task.topic_id], "condition": manual.pk, "person": anna.pk, "rule": "none"}
    page = as_olga.post(GIVE, form).content.decode()
    assert "3 answers with 6 labels leave the scores." in page
    assert not Scope.objects.exists()
    as_olga.post(GIVE, sent(page))
    assert Scope.objects.get().rule == "none"


def test_a_run_is_dropped_once_it_is_told_what_that_touches(
    manual: Condition, task: Task, as_anna: Client, as_olga: Client
):
    label_all(as_anna, sheet_of(task, "team.one"))
    address = f"{PLAN}runs/"
    form = {"condition": manual.pk, "run": "team.one", "reason": "<b>withdrawn", "out": "1"}
    page = as_olga.post(address, form).content.decode()
    assert "<h1>Leave team.one out of Manual/Manual</h1>" in page
    assert "1 answer with 3 labels leave the scores." in page
    page = as_olga.post(address, sent(page), follow=True).content.decode()
    assert "team.one is left out of Manual/Manual: its labels do not count." in page
    assert "<bdi>&lt;b&gt;withdrawn</bdi>" in page
    page = as_olga.post(address, form | {"out": "0", "reason": "back"}).content.decode()
    assert "1 answer with 3 labels come back to them." in page
    as_olga.post(address, sent(page))
    assert len(all_judged(task, "team.one")) == 1


def test_topics_for_practice_are_marked(bank: NuggetBank, as_olga: Client):
    assert "for practice" not in as_olga.get(PLAN).content.decode()
    Topic.objects.filter(qid="t2").update(is_practice=True)
    page = as_olga.get(PLAN).content.decode()
    assert '<span class="sub">t2, for practice</span>' in page
    assert '<span class="sub">t1</span>' in page


def test_the_matrix_is_filtered_by_state_person_condition_and_text(
    waiting: Condition, bank: NuggetBank, as_olga: Client, anna: Person, ben: Person
):
    """Anna has t1 and waits for its nuggets; nobody has t2."""

    def shown(query: str) -> list[str]:
        page = as_olga.get(f"{PLAN}?{query}").content.decode()
        return re.findall(r'aria-label="Choose (\w+)"', page)

    page = as_olga.get(PLAN).content.decode()
    for state in ("All 2", "Not given 1", "Open 1", "Waiting 1", "Finished 0"):
        assert f">{state}</a>" in page
    assert "<dt>Topics given</dt><dd>1 <small>of 2</small></dd>" in page
    assert (shown(""), shown("state=none"), shown("state=open"), shown("state=finished")) == (
        *(["t1", "t2"], ["t2"]),
        *(["t1"], []),
    )
    assert (shown("state=waiting"), shown(f"person={anna.pk}"), shown(f"person={ben.pk}")) == (["t1"], ["t1"], [])
    assert shown(f"condition={waiting.pk}&state=open") == [], "there it only waits"
    assert (shown("q=PURR"), shown("q=T2"), shown("q=nothing like it")) == (["t1"], ["t2"], [])
    assert shown("state=<b>&person=x&condition=9999999") == ["t1", "t2"]
    Task.objects.update(state="finished")
    assert (shown("state=finished"), shown("state=waiting")) == ([], ["t1"])
    Planned.objects.all().delete()
    assert shown("state=finished") == ["t1"]


def test_what_is_somebodys_is_moved_on_the_plan(condition: Condition, bank: NuggetBank, as_olga: Client, ben: Person):
    form = {"topics": [bank.topic_id], "condition": condition.pk, "person": ben.pk}
    page = as_olga.post(GIVE, form).content.decode()
    why = "Under ManualNuggets these topics are somebody else&#x27;s already: t1 (anna)."
    assert f"{why} To move one, open its cell on the plan." in page
    assert "open its cell" not in as_olga.post(GIVE, form | {"person": ""}).content.decode()


def test_who_is_invited_is_named_where_topics_are_given(bank: NuggetBank, as_olga: Client, olga: Person):
    told = "Not to choose from until they accept their invitation"
    assert told not in as_olga.get(GIVE, {"topics": bank.topic_id}).content.decode()
    for name, role in (("zoe", Role.ASSESSOR), ("carol", Role.ASSESSOR), ("otto", Role.ORGANIZER)):
        Invitation.objects.create(
            campaign=bank.condition.campaign, person=make_person(name), role=role, invited_by=olga
        )
    assert f"{told}: carol, zoe." in as_olga.get(GIVE, {"topics": bank.topic_id}).content.decode()


def test_blind_work_and_drafts_of_the_same_topic_are_given_to_one_person_only_if_meant(
    condition: Condition, bank: NuggetBank, as_olga: Client, anna: Person, ben: Person
):
    edits = make_condition(make_model(condition.campaign), name="Edits")
    draft(edits, [bank.topic], ["a"])
    form = {"topics": [bank.topic_id], "condition": edits.pk, "person": anna.pk}
    page = as_olga.post(GIVE, form).content.decode()
    told = "anna would work on t1 blind, under ManualNuggets, and from what a model gave, under Edits."
    assert (told in page, edits.tasks.count()) == (True, 0)
    assert "Labels that leave the scores" not in page
    as_olga.post(GIVE, form | {"person": ben.pk})
    assert [task.person for task in edits.tasks.all()] == [ben], "who has no blind work there is not asked about"
    both = {"topics": [bank.topic_id], "condition": [condition.pk, edits.pk], "person": ben.pk}
    assert "ben would work on t1 blind" in as_olga.post(GIVE, both).content.decode()
    withdraw_task(task=edits.tasks.get(), acting_user=None)
    as_olga.post(GIVE, sent(page))
    assert edits.tasks.filter(person=anna, state="open").exists(), "it is meant"


def test_who_has_done_the_blind_work_gets_the_drafts_at_once(
    condition: Condition, bank: NuggetBank, as_olga: Client, anna: Person
):
    edits = make_condition(make_model(condition.campaign), name="Edits")
    draft(edits, [bank.topic], ["a"])
    finish(bank)
    as_olga.post(GIVE, {"topics": [bank.topic_id], "condition": edits.pk, "person": anna.pk})
    assert [task.person for task in edits.tasks.all()] == [anna]


def test_nothing_is_drawn_where_every_topic_has_work(condition: Condition, bank: NuggetBank, as_olga: Client):
    assert "1 topic has no work yet." in as_olga.get(f"{PLAN}allocate/").content.decode()
    Topic.objects.exclude(pk=bank.topic_id).update(is_practice=True)
    page = as_olga.get(f"{PLAN}allocate/").content.decode()
    assert ("Every topic has work" in page, ">Draw</button>" in page) == (True, False)


def test_the_page_of_giving_says_the_hours_before_its_button(
    condition: Condition, bank: NuggetBank, as_olga: Client, anna: Person, ben: Person
):
    """ManualNuggets take 2.5 hours a topic, as published; Anna has one already."""
    both = "&".join(f"topics={topic.pk}" for topic in condition.campaign.topics.all())
    page = as_olga.get(f"{GIVE}?{both}&filters=state%3Dnone").content.decode()
    assert ("<h1>Give 2 topics</h1>" in page, '<button class="go">Give 2 topics</button>' in page) == (True, True)
    assert (f'<option value="{anna.pk}">anna: 2.5 h to come' in page, "ben: nothing to come" in page) == (True, True)
    assert "Choose the work to see the hours it adds." in page
    assert f'href="{PLAN}?state=none">Cancel' in page
    asked = f"{GIVE}?{both}&condition={condition.pk}&person={anna.pk}"
    part = as_olga.get(asked, headers={"HX-Request": "true"}).content.decode()
    assert "Adds 5.0 h: 2.5 h for each topic.</strong> anna then has 7.5 h to come, 2.5 h now." in part
    assert ("<html" in part, "<h1>" in part) == (False, False)
    manual = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)
    page = as_olga.get(f"{GIVE}?{both}&condition={manual.pk}").content.decode()
    assert "No estimate yet for Manual/Manual." in page
    assert "No topics selected" in as_olga.get(f"{GIVE}?topics=x").content.decode()


def test_runs_are_chosen_from_a_menu_or_by_an_own_rule(
    waiting: Condition, bank: NuggetBank, as_olga: Client, anna: Person
):
    form = {"topics": [bank.topic_id], "condition": waiting.pk, "person": anna.pk, "rule": "own", "confirmed": "1"}
    assert "Write the rule, or choose another one." in as_olga.post(GIVE, form).content.decode()
    assert "This is no rule of runs" in as_olga.post(GIVE, form | {"own_rule": "best"}).content.decode()
    assert not Scope.objects.exists()
    assert as_olga.post(GIVE, form | {"own_rule": "2 per  team"}).status_code == 302
    assert Scope.objects.get().rule == "2 per team"
    page = as_olga.get(f"{PLAN}work/{waiting.pk}/{bank.topic_id}/").content.decode()
    assert '<option value="2 per team" selected>2 per team</option>' in page
