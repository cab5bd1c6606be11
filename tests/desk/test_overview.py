"""The Overview and the pages of conditions: stages, figures, what to do next, and the matrix, from one query layer."""

import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event, Invitation, Membership, Role
from assessor.desk.conditions import ConditionState
from assessor.desk.flags import remember_open
from assessor.desk.overview import Overview, Stage, conditions_of, due, to_compare
from assessor.desk.sentences import predicate
from assessor.desk.stalled_work import stuck
from assessor.exports.models import Frozen
from assessor.llm.models import Job, Unit
from assessor.plan.models import Planned
from assessor.runtime.process_cache import cache
from assessor.work.models import Task, TimeSpent, Waiting
from metaeval.actions import create_comparison, run
from nuggets.models import NuggetBank
from tests.assignment.conftest import answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of, make_assessor
from tests.judging import change
from tests.llm.records import fail_units
from tests.metaeval.conftest import edits, first, second  # noqa: F401  # fixtures
from tests.nuggets.model import draft, make_condition, make_model

ADDRESS = "/campaigns/study/"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterable[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def seen(client: Client) -> Overview:
    found: Overview = client.get(ADDRESS).context["overview"]
    return found


def state(campaign: Campaign, condition: Condition) -> ConditionState:
    cache.clear()
    found = conditions_of(campaign)
    return next(one for one in (*found.every, *found.samples) if one.pk == condition.pk)


def test_stages_say_how_far_the_study_is_and_which_is_due(task: Task, as_olga: Client):  # noqa: F811
    overview = seen(as_olga)
    told = {stage.title: (stage.percent, stage.told) for stage in overview.stages}
    assert told["Collection"][0] == 100
    assert told["Relevance"] == (100, "2 of 2 topics graded")
    assert told["Assignment"] == (33, "0 of 1 condition complete")
    assert told["Support"] == (0, "no condition yet")
    assert told["Freeze"] == (0, "0 of 2 conditions")
    assert overview.due == "Assignment"
    assert list(told) == ["Collection", "Relevance", "Nuggets", "Assignment", "Support", "Agreement", "Freeze"]


def test_a_stage_without_anything_to_do_is_not_due():
    support, freeze = Stage("Support", 0, "", False), Stage("Freeze", 50, "", True)
    assert due([Stage("Nuggets", 100, "", True), support, freeze]) == "Freeze"
    assert due([support]) == "Support"
    assert due([freeze._replace(percent=100)]) == ""


def test_a_models_labels_are_to_be_compared_with_peoples_once_both_are_complete(
    first: Condition,  # noqa: F811
    second: Condition,  # noqa: F811
):
    found = conditions_of(first.campaign)
    [row] = found.matrix
    model = row.models[0]._replace(done=3, total=3)
    people = row.models[1]._replace(name="People", is_a_models=False, done=3, total=3)
    compared = lambda *states: [  # noqa: E731
        (reference.name, candidate.name)
        for reference, candidate in to_compare(found._replace(matrix=[row._replace(people=[], models=list(states))]))
    ]
    assert compared(model, people) == [("People", "First")]
    assert compared(model, people._replace(done=2)) == []
    assert compared(model._replace(done=2), people) == []
    assert compared(model, people._replace(nuggets=0)) == []
    assert compared(model._replace(agreements=[object()]), people) == []  # type: ignore[list-item]


def test_labels_that_could_not_be_given_come_first(
    task: Task,  # noqa: F811
    nugget_ids,  # noqa: F811
    as_olga: Client,
):
    nugget = str(min(nugget_ids.values()))
    for sheet in (sheet_of(task, "team.one"), sheet_of(task, "team.two")):
        change(sheet, {nugget: {"cannot": "garbled"}}, "cannot")
    overview = seen(as_olga)
    assert overview.steps[0].title == "Answer 2 questions"
    assert overview.steps[0].address == "/campaigns/study/asked/"
    assert overview.attention[0].text == "2 open questions"
    assert not [step for step in overview.steps if "Settle" in step.title], "nobody can, until the topic is finished"
    Task.objects.filter(pk=task.pk).update(state=Task.State.FINISHED)
    cache.clear()
    titles = [step.title for step in seen(as_olga).steps]
    assert titles[:2] == ["Answer 2 questions", "Settle 2 labels that assessors could not give"]


def test_topics_whose_nuggets_are_finished_are_to_be_given_out(manual: Condition, as_olga: Client):  # noqa: F811
    assert [step.title for step in seen(as_olga).steps if "Give out" in step.title] == [
        f"Give out 1 topic for {manual}"
    ]


def test_a_condition_that_nobody_works_on_is_to_be_given_out(condition: Condition, as_olga: Client):
    assert "Give out topics for ManualNuggets" in [step.title for step in seen(as_olga).steps]


def test_what_waits_for_a_models_drafts_is_not_given_out_but_its_job_launched(
    campaign: Campaign, topic, as_olga: Client
):
    edits = make_condition(make_model(campaign))  # noqa: F811
    steps = {step.title: step.address for step in seen(as_olga).steps}
    assert steps[f"Launch the job Drafts for {edits}"] == "/campaigns/study/jobs/new/?kind=Drafts"
    assert f"Give out topics for {edits}" not in steps
    draft(edits, [topic], ["a"])
    titles = [step.title for step in seen(as_olga).steps]
    assert f"Launch the job Drafts for {edits}" not in titles
    assert f"Give out topics for {edits}" in titles


def test_failed_calls_are_to_be_looked_at_and_keep_a_condition_from_being_complete(
    campaign: Campaign, topic, as_olga: Client
):
    edits = make_condition(make_model(campaign))  # noqa: F811
    job = draft(edits, [topic], ["a"])
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    fail_units(job, topic, 3)
    found = state(campaign, edits)
    assert (found.failed, found.chip) == (3, ("bad", "3 failed"))
    assert not found._replace(done=1, total=1).is_complete
    assert found._replace(done=1, total=1, failed=0).is_complete
    assert "See why 3 items failed" in [step.title for step in seen(as_olga).steps]
    Job.objects.filter(pk=job.pk).update(state=Job.State.CANCELLED)
    assert state(campaign, edits).failed == 0


def test_a_failed_call_that_a_later_job_took_up_is_told_once(campaign: Campaign, topic, as_olga: Client):
    model = make_model(campaign)
    edits = make_condition(model)  # noqa: F811
    fail_units(draft(edits, [topic], ["a"]), topic, 3)
    later = Job.objects.create(campaign=campaign, kind="AutoNuggets", condition=edits, judge=model)
    fail_units(later, topic, 2)
    assert state(campaign, edits).failed == 3
    assert [step.title for step in seen(as_olga).steps if "failed" in step.title] == ["See why 3 items failed"]
    assert [one.fact for one in stuck(campaign, [], {})] == ["1 of 0 failed.", "2 of 0 failed."]
    later.units.update(state=Unit.State.DONE)
    assert state(campaign, edits).failed == 1
    Job.objects.filter(pk=later.pk).update(state=Job.State.CANCELLED)
    assert state(campaign, edits).failed == 1, "what it has done stays done"
    later.units.update(state=Unit.State.WAITING)
    assert state(campaign, edits).failed == 3


def test_what_is_complete_is_to_be_frozen_until_it_is(edits: Condition, as_olga: Client):  # noqa: F811
    [step] = [step for step in seen(as_olga).steps if step.button == "Freeze…"]
    assert (step.title, step.address) == (f"Freeze {edits}", f"/campaigns/study/frozen/{edits.pk}/")
    Frozen.objects.create(condition=edits, version=1, at=timezone.now(), manifest="{}")
    found = state(edits.campaign, edits)
    assert (found.version, found.chip) == (1, ("lock", "frozen, version 1"))
    cache.clear()
    assert not [step for step in seen(as_olga).steps if step.button == "Freeze…"]


def test_the_matrix_has_rows_by_nuggets_and_agreement_with_the_reference(
    first: Condition,  # noqa: F811
    second: Condition,  # noqa: F811
    edits: Condition,  # noqa: F811
    as_olga: Client,
):
    run(create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None, draws=20))
    [row] = seen(as_olga).conditions.matrix
    assert (row.nuggets.name, row.people) == (edits.name, [])
    assert [(one.name, one.is_reference, len(one.agreements)) for one in row.models] == [
        ("First", True, 0),
        ("Second", False, 1),
    ]
    [agreement] = row.models[1].agreements
    assert agreement.reference_name == "First"
    assert agreement.kappa is not None
    page = as_olga.get(ADDRESS).content.decode()
    assert f"κ {agreement.kappa:.2f}" in page
    assert "<b>Reference</b> for comparisons" in page
    assert f'href="/campaigns/study/conditions/{second.pk}/"' in page


def test_a_condition_is_done_as_far_as_its_answers_are(task: Task, manual: Condition, nugget_ids):  # noqa: F811
    found = state(manual.campaign, manual)
    assert (found.done, found.total, found.unit) == (1, 3, "answers"), "one is empty"
    assert (found.people, found.model, found.chip) == (["anna"], "", ("run", "running"))
    Task.objects.filter(pk=task.pk).update(done=2)
    assert (state(manual.campaign, manual).percent, state(manual.campaign, manual).is_complete) == (66, False)
    Task.objects.filter(pk=task.pk).update(done=3)
    assert (state(manual.campaign, manual).percent, state(manual.campaign, manual).is_complete) == (100, True)


def test_it_is_worked_out_once_for_a_state_and_anew_for_another(campaign: Campaign, olga: Person, as_olga: Client):
    before = seen(as_olga)
    Membership.objects.filter(campaign=campaign, role=Role.ASSESSOR).delete()  # of which no event tells
    assert seen(as_olga) == before
    Event.objects.create(campaign=campaign, person=olga, verb="exported", subject="topics.tsv")
    told = seen(as_olga).latest[0]
    assert (told.who, told.told) == ("olga", "downloaded topics.tsv")


def test_work_is_seen_at_the_latest_after_a_minute(task: Task, as_olga: Client, time_machine):  # noqa: F811
    now = timezone.now().replace(second=5)
    time_machine.move_to(now, tick=False)
    Task.objects.filter(pk=task.pk).update(worked_at=now, done=1)

    def done() -> int:
        return next(one.done for one in seen(as_olga).conditions.every if one.pk == task.condition_id)

    assert done() == 1
    Task.objects.filter(pk=task.pk).update(worked_at=now, done=2)
    assert done() == 1
    time_machine.move_to(now + timedelta(minutes=1), tick=False)
    assert done() == 2


def test_it_is_asked_for_again_only_while_something_runs(campaign: Campaign, topic, as_olga: Client):
    assert "every 10s" not in as_olga.get(ADDRESS).content.decode()
    job = draft(make_condition(make_model(campaign)), [topic], ["a"])
    Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING)
    page = as_olga.get(ADDRESS).content.decode()
    assert 'hx-trigger="every 10s' in page
    name = re.search(r'"X-Seen": "([^"]+)"', page)
    assert name
    asked = {"HX-Request": "true", "X-Seen": name[1]}
    assert as_olga.get(ADDRESS, headers=asked).status_code == 204
    Job.objects.filter(pk=job.pk).update(units_done=job.units_done + 1)
    part = as_olga.get(ADDRESS, headers=asked)
    assert (part.status_code, b"<html" in part.content, b'id="live"' in part.content) == (200, False, True)


def test_the_week_has_the_hours_of_each_day(task: Task, as_olga: Client):  # noqa: F811
    for days, hours in ((0, 2), (1, 1), (30, 5)):
        time = TimeSpent.objects.create(task=task, key=uuid4(), seconds=3600 * hours)
        QuerySet(TimeSpent).filter(pk=time.pk).update(at=timezone.now() - timedelta(days=days))
    week = seen(as_olga).week
    assert [day.hours for day in week] == [0, 0, 0, 0, 0, 1, 2]
    assert (week[-1].height, week[-2].height) == (84, 42)


def test_a_condition_has_a_page_with_all_that_is_known_of_it(
    first: Condition,  # noqa: F811
    second: Condition,  # noqa: F811
    edits: Condition,  # noqa: F811
    as_olga: Client,
):
    run(create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None, draws=20))
    page = as_olga.get(f"/campaigns/study/conditions/{second.pk}/").content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert f"Nuggets of {edits} assigned by a model" in text
    assert "Agreement with First" in text
    assert "Best runs by" in text
    assert f"<code>{second.identity}</code>" in page
    assert f'href="/campaigns/study/frozen/{second.pk}/"' in page
    assert as_olga.get("/campaigns/study/conditions/0/").status_code == 404


def test_the_page_of_a_condition_under_which_people_work_names_them(task: Task, manual: Condition, as_olga: Client):  # noqa: F811
    context = as_olga.get(f"/campaigns/study/conditions/{manual.pk}/").context
    assert [(one.name, one.topics, one.finished) for one in context["people"]] == [("anna", 1, 0)]


def test_a_new_condition_is_chosen_by_cards(condition: Condition, as_olga: Client):
    page = as_olga.get("/campaigns/study/conditions/new/").content.decode()
    assert page.count('type="radio" name="method"') == 15
    assert 'value="ManualNuggets" id="id_method_0" required checked' in page
    page = as_olga.get(f"/campaigns/study/conditions/new/?of={condition.pk}").content.decode()
    assert re.search(r'value="ManualAssign" id="id_method_\d+" required checked', page)
    assert f'<option value="{condition.pk}" selected>ManualNuggets</option>' in page


def test_settings_moved_and_old_addresses_lead_there(campaign: Campaign, as_olga: Client):
    assert as_olga.get("/campaigns/study/protocol/")["Location"] == "/campaigns/study/settings/"
    page = as_olga.get("/campaigns/study/settings/security/").content.decode()
    assert "not required" in page
    response = as_olga.post("/campaigns/study/second-factor/", {"required": "no"})
    assert response["Location"] == "/campaigns/study/settings/security/"


def test_who_organizes_one_campaign_starts_on_its_overview(campaign: Campaign, olga: Person, as_olga: Client):
    assert as_olga.get("/")["Location"] == ADDRESS
    invitation = Invitation.objects.create(campaign=campaign, person=olga, role=Role.ASSESSOR, invited_by=olga)
    assert as_olga.get("/").status_code == 200
    invitation.delete()
    make_assessor(olga)
    page = as_olga.get("/")
    assert page.status_code == 200
    assert b"2 topics, 0 runs" in page.content


def test_home_says_how_much_of_a_campaign_is_finished(bank: NuggetBank, olga: Person, as_olga: Client):
    make_assessor(olga)
    assert "0 of 1 pieces of work finished" in as_olga.get("/").content.decode()
    Task.objects.update(state=Task.State.FINISHED)
    assert "1 of 1 pieces of work finished" in as_olga.get("/").content.decode()
    one = Task.objects.get()
    to_come = {"condition": one.condition, "topic": one.campaign.topics.get(qid="t2")}
    Planned.objects.create(**to_come, person=one.person)
    assert "1 of 2 pieces of work finished" in as_olga.get("/").content.decode()
    Waiting.objects.create(**to_come)
    assert "1 of 3 pieces of work finished" in as_olga.get("/").content.decode()


def test_home_says_what_needs_attention(campaign: Campaign, topic, olga: Person, as_olga: Client):
    make_assessor(olga)
    home = as_olga.get("/").content.decode()
    assert "with failures" not in home
    assert "open question" not in home
    model = make_model(campaign)
    own = {"campaign": campaign, "kind": "AutoNuggets", "condition": make_condition(model), "judge": model}
    for state, failed in ((Job.State.DONE, 2), (Job.State.DONE, 0), (Job.State.HALTED, 0), (Job.State.CANCELLED, 2)):
        fail_units(Job.objects.create(**own, state=state), topic, failed)
    remember_open(campaign, 3)
    home = as_olga.get("/").content.decode()
    assert f'href="{ADDRESS}jobs/">2 jobs stopped or with failures</a>' in home
    assert f'href="{ADDRESS}asked/">3 open questions</a>' in home


def test_every_verb_of_the_history_is_a_sentence():
    """A verb that no sentence is written for would be read as it is recorded."""
    verbs = set()
    for folder in ("assessor", "nuggets", "assignment", "support", "metaeval"):
        for path in (ROOT / folder).rglob("*.py"):
            verbs |= set(re.findall(r'history\.record\(\s*"([^"]+)",(?![^\n]*campaign=None)', path.read_text()))
    assert len(verbs) > 40
    assert sorted(verb for verb in verbs if predicate(verb, "x") == f"{verb}: x") == []
    assert predicate("assignment signed off", "t1") == "signed off t1"
    assert predicate("task given", "support of t1 by ben") == "gave support of t1 to ben"
    assert predicate("unheard of", "t1") == "unheard of: t1"


def test_the_glossary_has_each_word_where_pages_lead_to_it(as_olga: Client, campaign: Campaign):
    page = as_olga.get("/glossary/").content.decode()
    there = set(re.findall(r'<div id="([^"]+)"', page))
    linked = set(re.findall(r'href="/glossary/#([^"]+)"', as_olga.get(ADDRESS).content.decode()))
    assert linked
    assert linked <= there
