"""Changes of the plan after work began: no label is lost, and the scores follow."""

import csv
import json
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import CONTROL, Condition, Event, Run, Topic
from assessor.plan.actions import Wanted, advance, change_piece, drop_run, piece_at, plan_work, set_runs, settle
from assessor.plan.models import Planned
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import Incomplete, score_lines
from assessor.work.actions import PlanError, draw_next, put_in_queue, withdraw_task
from assessor.work.models import Scope, Task, Waiting
from assessor.work.task_changes import follow_scope, set_rule
from assessor.work.write_protocol import Stale
from assignment.exports import assignment_lines
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, Policy
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from support.exports import support_lines
from tests.assignment import lines as imported
from tests.assignment.conftest import A, B, C, run_file, sheet_of
from tests.conftest import ASSESSOR, client_of, make_person
from tests.judging import (
    again,
    all_judged,
    answers,
    counters,
    equal_first,
    give,
    given,
    history,
    judged,
    label_all,
    queue,
    send,
    sign_off,
    stands,
)
from tests.nuggets.conftest import do, fill
from tests.scores.pages import board, get, scores_of
from tests.support import judging_helpers


def change(task: Task, olga: Person, **wanted: Any) -> None:
    """Change a task as the page does, by somebody who has seen it as it is."""
    piece = piece_at(task.condition, task.topic)
    assert piece
    usual = {"condition": piece.condition, "person": piece.person, "rule": piece.rule, "paused": piece.paused}
    asked = Wanted(**usual | {"reason": "so it is"} | wanted)
    change_piece(piece=piece, wanted=asked, seen=piece.seen, acting_user=olga)


def drop(condition: Condition, tag: str, olga: Person, is_out: bool = True) -> None:
    run = Run.objects.get(campaign=condition.campaign, tag=tag)
    drop_run(condition=condition, run=run, is_out=is_out, reason="withdrawn by its team", acting_user=olga)


def table(condition: Condition) -> dict[str, list[int]]:
    """Return the states of a condition's cells, by run, its topics in order."""
    found = condition_scores(condition)
    return {run.tag: states for run, states in zip(found.runs, found.states.tolist(), strict=True)}


def labels() -> dict[tuple[int, str], str]:
    """Return every label that was ever given, by answer and nugget, from the history."""
    given: dict[tuple[int, str], str] = {}
    for condition in Condition.objects.filter(kind="assignment"):
        for sheet in all_judged(condition, in_or_out=True):
            for event in history(sheet).order_by("version"):
                for nugget, change in event.changes_by_item.items():
                    if change.get("label", (None, None))[1]:
                        given[sheet.pk, nugget] = change["label"][1]
    return given


def scored(condition: Condition) -> list[str]:
    """Return which answers an export has, by run."""
    return [json.loads(line)["run_id"] for line in assignment_lines(condition)]


def test_a_run_that_is_dropped_leaves_scores_progress_export_and_queue_and_comes_back(
    manual: Condition, task: Task, as_anna, olga: Person
):
    one, two = sheet_of(task, "team.one"), sheet_of(task, "team.two")
    label_all(as_anna, one)
    label_all(as_anna, two, "partial_support")
    said = stands(one)
    before = condition_scores(manual).scores.tolist()
    assert table(manual) == {"team.empty": [COMPLETE], "team.one": [COMPLETE], "team.two": [COMPLETE]}
    assert counters(task) == ("open", 3, 3)

    drop(manual, "team.one", olga)
    assert table(manual) == {"team.empty": [COMPLETE], "team.two": [COMPLETE]}
    assert scored(manual) == ["team.empty", "team.two"]
    assert counters(task) == ("open", 2, 2)
    page = as_anna.get(f"/assign/{task.pk}/")
    assert [row[0] for row in queue(page)] == [two.pk]
    assert one.pk not in answers(page)
    assert as_anna.get(f"/assign/{task.pk}/answers/{one.pk}/").status_code == 404
    kept = again(one)
    assert (kept.labels, kept.out_of_scope, kept.task) == (said["labels"], True, task)
    last = history(one).last()
    assert (last.verb, last.changes_by_item, last.judge, last.version) == ("left scope", {}, None, kept.version)

    drop(manual, "team.one", olga, is_out=False)
    assert stands(one) == said
    assert condition_scores(manual).scores.tolist() == before
    assert scored(manual) == ["team.empty", "team.one", "team.two"]
    assert counters(task) == ("open", 3, 3)
    told = [
        (event.verb, event.subject, event.details["reason"]) for event in Event.objects.filter(verb__startswith="run ")
    ]
    assert sorted(told) == [
        ("run brought back", "team.one", "withdrawn by its team"),
        ("run dropped", "team.one", "withdrawn by its team"),
    ]


def test_a_save_that_was_on_its_way_is_taken_and_counts_nowhere(
    manual: Condition, task: Task, as_anna, olga: Person, nugget_ids
):
    one = sheet_of(task, "team.one")
    drop(manual, "team.one", olga)
    for number, uid in enumerate((A, B, C)):
        response = send(
            as_anna, one, "label", nugget_ids[uid], label="support", version=number if number == 0 else number + 1
        )
        assert response.status_code == 200, response.content
        # The version that it made: the one on which the browser's next write goes out.
        assert response.json()["version"] == number + 2
    assert (counters(task), scored(manual)) == (("open", 1, 2), ["team.empty", "team.two"])
    kept = again(one)
    assert (set(kept.labels.values()), kept.to_do) == ({"support"}, 0)
    drop(manual, "team.one", olga, is_out=False)
    assert counters(task) == ("open", 2, 3)
    assert table(manual)["team.one"] == [COMPLETE]


def test_a_write_sent_twice_gets_the_same_answer_though_the_scope_changed(
    manual: Condition, task: Task, as_anna, olga: Person, nugget_ids
):
    one, key = sheet_of(task, "team.one"), "00000000-0000-4000-8000-000000000001"
    drop(manual, "team.one", olga)
    told = [send(as_anna, one, "label", nugget_ids[A], label="support", version=0, key=key).json() for _ in range(2)]
    assert told[0] == told[1] == {"version": 2, "to_do": 2}
    late = send(as_anna, one, "label", nugget_ids[A], label="not_support", version=0)
    assert late.status_code == 409, "that one is on an old version"


def test_what_came_to_stand_on_a_dropped_answer_follows_its_nuggets(
    manual: Condition, task: Task, finished: NuggetBank, as_anna, anna: Person, olga: Person, nugget_ids
):
    one = sheet_of(task, "team.one")
    label_all(as_anna, one)
    drop(manual, "team.one", olga)
    nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
    finished.refresh_from_db()
    do(finished, nugget_actions.reword_nugget, uid=A, text="purring heals bones")
    do(finished, nugget_actions.finish_bank)
    kept = again(one)
    assert (kept.edition, kept.stale, kept.to_do) == (2, {str(nugget_ids[A]): "support"}, 1)
    drop(manual, "team.one", olga, is_out=False)
    assert stands(one)["stale"] == {str(nugget_ids[A]): "support"}
    assert table(manual)["team.one"] == [INCOMPLETE]


def test_a_narrower_rule_takes_answers_out_and_a_wider_one_brings_them_back(
    manual: Condition, task: Task, topic: Topic, as_anna, anna: Person, olga: Person
):
    one, two = sheet_of(task, "team.one"), sheet_of(task, "team.two")
    label_all(as_anna, one)
    label_all(as_anna, two)
    Run.objects.filter(tag="team.one").update(team="team", priority=2)
    Run.objects.filter(tag="team.two").update(team="team", priority=1)
    Run.objects.filter(tag="team.empty").update(team="other")
    before = labels()
    change(task, olga, rule="1 per team")
    assert scored(manual) == ["team.empty", "team.two"]
    assert counters(task) == ("open", 2, 2)
    change(task, olga, rule="priority<=1")
    assert scored(manual) == ["team.two"]
    assert sign_off(as_anna, task).status_code == 200
    assert counters(task)[0] == "finished"
    change(task, olga, rule="all")
    assert scored(manual) == ["team.empty", "team.one", "team.two"]
    assert counters(task) == ("finished", 3, 3), "all of it was done before"
    assert labels() == before
    rules = [(scope.rule, scope.reason, scope.person) for scope in Scope.objects.all()]
    assert rules == [("1 per team", "so it is", olga), ("priority<=1", "so it is", olga), ("all", "so it is", olga)]


def test_answers_that_a_wider_rule_adds_open_the_topic_again_for_the_same_person(
    manual: Condition, finished: NuggetBank, topic: Topic, as_anna, anna: Person, olga: Person
):
    Run.objects.filter(tag="team.two").update(priority=1)
    plan_work(condition=manual, topics=[topic], person=anna, rule="priority<=1", acting_user=olga)
    task = Task.objects.get(condition=manual)
    [sheet] = all_judged(task, in_or_out=True)
    assert sheet.answer.run.tag == "team.two", "no sheet is made of what is not judged"
    label_all(as_anna, sheet)
    assert sign_off(as_anna, task).status_code == 200
    assert table(manual) == {"team.two": [COMPLETE]}
    change(task, olga, rule="all")
    assert counters(task) == ("open", 2, 3)
    assert table(manual)["team.one"] == [INCOMPLETE]
    assert stands(sheet)["to_do"] == 0


def test_a_cell_outside_counts_neither_as_missing_nor_as_nothing(
    manual: Condition, task: Task, campaign, condition: Condition, as_anna, anna: Person, olga: Person
):
    for tag in ("team.one", "team.two"):
        label_all(as_anna, sheet_of(task, tag))
    second = campaign.topics.get(qid="t2")
    bank = NuggetBank.objects.get(task=give(condition, second, anna))
    fill(bank, (A.__class__(int=900), "glass is melted", "vital"))
    do(bank, nugget_actions.finish_bank)
    Run.objects.filter(tag="team.one").update(priority=1)
    plan_work(condition=manual, topics=[second], person=anna, rule="priority<=1", acting_user=olga)
    sheet = judged(manual, qid="t2")
    label_all(as_anna, sheet)
    assert table(manual) == {
        "team.empty": [COMPLETE, OUTSIDE],
        "team.one": [COMPLETE, COMPLETE],
        "team.two": [COMPLETE, OUTSIDE],
    }
    # Were it counted as an unanswered topic, that of team.two would be half of it.
    for policy in Policy:
        rows = [line.split(",") for line in score_lines(manual, "csv", policy)]
        at = rows[0].index("a")
        assert {row[0]: float(row[at]) for row in rows[1:4]} == {"team.empty": 0, "team.one": 1, "team.two": 1}
    _assert_told(manual, olga)
    change(task, olga, rule="none")
    assert table(manual) == {"team.one": [COMPLETE]}, "the topic has left"


def _assert_told(manual: Condition, olga: Person) -> None:
    """On the page and in files: of three runs, two are not judged by plan on one of two topics.

    The topics in common are without that one, so none of their cells is.
    """
    numbers = {"team.empty": 1, "team.one": 0, "team.two": 1, "minimum": 2, "median": 2, "maximum": 2}
    for policy in Policy:
        of_rows = dict.fromkeys(numbers, 0) if policy == Policy.COMMON else numbers
        rows = list(csv.DictReader(score_lines(manual, "csv", policy)))
        assert {row["run_id"]: int(row["not_judged_by_plan"]) for row in rows} == of_rows
        assert {row["topics"] for row in rows} == {"1" if policy == Policy.COMMON else "2"}
        lines = map(json.loads, score_lines(manual, "jsonl", policy))
        told = {line["run_id"]: line["not_judged_by_plan"] for line in lines if line["qid"] == "all"}
        assert told == {run: of_rows[run] for run in ("team.empty", "team.one", "team.two")}
        caption = "1 of 2 topics; " if policy == Policy.COMMON else "; cells not judged by plan, in no mean: 2"
        assert caption in "".join(score_lines(manual, "latex", policy))
    text, page = get(client_of(olga), scores_of(manual, sort="-not_judged_by_plan"))
    assert "<strong>2 cells are not judged by plan</strong>They count in no mean, and not as 0." in text
    _, heads, *rows = board(page)
    assert heads[-2:] == ["Topics", "Not judged by plan"]
    assert [(row[1], row[-1]) for row in rows] == [
        *[("team.empty", "1"), ("team.two", "1"), ("team.one", "0")],
        *[("minimum", ""), ("median", ""), ("maximum", "")],
    ]


def test_a_table_in_which_all_is_judged_has_no_column_for_what_is_not(
    manual: Condition, task: Task, as_anna, olga: Person
):
    label_all(as_anna, sheet_of(task, "team.one"))
    text, page = get(client_of(olga), scores_of(manual, sort="not_judged_by_plan"))
    assert "ot judged by plan" not in text
    assert board(page)[1][-2:] == ["Topics", "Incomplete"]


def test_what_is_done_stays_whose_it_was_when_a_topic_is_handed_over(
    manual: Condition, task: Task, as_anna, anna: Person, ben: Person, olga: Person, nugget_ids
):
    one, two = sheet_of(task, "team.one"), sheet_of(task, "team.two")
    label_all(as_anna, one)
    send(as_anna, two, "label", nugget_ids[A], label="support")
    before, scores = labels(), condition_scores(manual).scores
    change(task, olga, person=ben)
    new = Task.objects.get(condition=manual, person=ben)
    assert Task.objects.get(pk=task.pk).state == "withdrawn"
    assert labels() == before, "the one that was begun is in the history"
    assert again(one).task == task
    assert (again(two).task, stands(two)) == (new, {"to_do": 3})
    assert condition_scores(manual).scores[1].tolist() == scores[1].tolist()
    assert as_anna.get(f"/assign/{task.pk}/").status_code == 404
    label_all(client_of(ben), again(two))
    assert table(manual)["team.two"] == [COMPLETE]
    with pytest.raises(PlanError, match="Say why"):
        change(new, olga, person=anna, reason="")
    event = Event.objects.get(verb="task reassigned")
    assert (event.person, event.details) == (
        olga,
        {"condition": "Manual/Manual", "to": "ben", "reason": "so it is"},
    )


def test_a_dropped_run_that_comes_back_is_asked_of_who_has_the_topic_now(
    manual: Condition, task: Task, as_anna, ben: Person, olga: Person
):
    drop(manual, "team.one", olga)
    change(task, olga, person=ben)
    new = Task.objects.get(condition=manual, person=ben)
    assert counters(new) == ("open", 1, 2)
    drop(manual, "team.one", olga, is_out=False)
    assert counters(new) == ("open", 1, 3)
    assert judged(manual, "team.one").task == new


def test_a_topic_that_is_added_is_missing_until_it_is_labelled(
    manual: Condition, task: Task, campaign, condition: Condition, as_anna, anna: Person, olga: Person
):
    for tag in ("team.one", "team.two"):
        label_all(as_anna, sheet_of(task, tag))
    list(score_lines(manual, "csv", Policy.ZERO))
    second = campaign.topics.get(qid="t2")
    bank = NuggetBank.objects.get(task=give(condition, second, anna))
    outcome = plan_work(condition=manual, topics=[second], person=anna, acting_user=olga)
    assert outcome.given == []
    assert [row.waits_for for row in outcome.waiting] == ["The nuggets of t2 under ManualNuggets are not finished."]
    assert table(manual)["team.one"] == [COMPLETE]
    fill(bank, (A.__class__(int=901), "glass is melted", "vital"))
    do(bank, nugget_actions.finish_bank)
    assert advance(campaign) == 1
    assert table(manual)["team.one"] == [COMPLETE, INCOMPLETE]
    with pytest.raises(Incomplete):
        list(score_lines(manual, "csv", Policy.ZERO))


def test_a_condition_that_is_changed_keeps_its_labels_and_loses_its_scores(
    manual: Condition, task: Task, finished: NuggetBank, as_anna, anna: Person, olga: Person
):
    label_all(as_anna, sheet_of(task, "team.one"))
    before, scores = labels(), condition_scores(manual).scores
    second = Condition.objects.create(
        campaign=manual.campaign,
        name="Once more",
        kind="assignment",
        method="ManualAssign",
        nuggets=finished.condition,
        replicate=7,
        protocol=manual.protocol,
    )
    second.manual_setup = type(manual.manual_setup).objects.create(condition=second, seed=1)
    change(task, olga, condition=second)
    assert (table(manual), scored(manual)) == ({}, [])
    assert table(second)["team.one"] == [INCOMPLETE]
    assert Task.objects.get(pk=task.pk).state == "withdrawn"
    new = Task.objects.get(condition=second)
    assert (new.person, counters(new)) == (anna, ("open", 1, 3))
    assert labels() == before
    change(new, olga, condition=manual)
    assert table(second) == {}
    assert np.array_equal(condition_scores(manual).scores, scores, equal_nan=True)
    assert counters(task) == ("open", 2, 3)


def test_a_paused_task_cant_be_opened_and_saves_on_their_way_are_taken(
    manual: Condition, task: Task, as_anna, olga: Person, nugget_ids
):
    one = sheet_of(task, "team.one")
    change(task, olga, paused=True)
    for address in (f"/assign/{task.pk}/", f"/assign/{task.pk}/answers/{one.pk}/"):
        response = as_anna.get(address)
        assert (response.status_code, b"has paused this topic" in response.content) == (403, True)
    assert send(as_anna, one, "label", nugget_ids[A], label="support").status_code == 200
    home = as_anna.get("/").content.decode()
    assert ("paused" in home, ">Continue<" in home) == (True, False)
    assert client_of(olga).get(f"/assign/{task.pk}/").status_code == 200
    change(task, olga, paused=False)
    assert as_anna.get(f"/assign/{task.pk}/").status_code == 200
    verbs = Event.objects.filter(verb__startswith="task ").order_by("pk").values_list("verb", flat=True)
    assert list(verbs)[-2:] == ["task paused", "task resumed"]


def another(condition: Condition, name: str = "Once more") -> Condition:
    """Return another condition under which the same nuggets are assigned for the first time."""
    found = Condition.objects.create(
        campaign=condition.campaign,
        name=name,
        kind="assignment",
        method="ManualAssign",
        nuggets=condition.nuggets,
        replicate=7,
        protocol=condition.protocol,
    )
    type(condition.manual_setup).objects.create(condition=found, seed=1)
    return found


def test_a_drawn_topic_that_is_done_under_another_condition_leaves_its_queue(
    manual: Condition, topic: Topic, anna: Person, ben: Person, olga: Person
):
    put_in_queue(topics=[topic], condition=manual, acting_user=olga, reason="all may")
    task = draw_next(condition=manual, person=anna)
    change(task, olga, condition=another(manual))
    assert not Waiting.objects.exists()
    with pytest.raises(PlanError, match="No topic is free here now"):
        draw_next(condition=manual, person=ben)


def test_a_drawn_topic_that_is_to_be_drawn_by_somebody_else_stays_in_its_queue(
    manual: Condition, topic: Topic, anna: Person, ben: Person, olga: Person
):
    put_in_queue(topics=[topic], condition=manual, acting_user=olga, reason="all may")
    change(draw_next(condition=manual, person=anna), olga, person=None)
    assert draw_next(condition=manual, person=ben).topic == topic


@pytest.fixture
def handover(manual: Condition, task: Task, finished: NuggetBank, ben: Person, olga: Person) -> Planned:
    """The topic of Anna's task is to be Ben's as soon as its nuggets are finished again."""
    nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
    return Planned.objects.create(
        condition=manual, topic=task.topic, person=ben, reason="anna is ill", waits_for="nuggets", created_by=olga
    )


def test_a_handover_that_waits_is_replaced_by_a_later_decision(
    handover: Planned, task: Task, finished: NuggetBank, olga: Person
):
    finished.refresh_from_db()
    do(finished, nugget_actions.finish_bank)
    carla = make_person("carla", ASSESSOR)
    change(task, olga, person=carla)
    assert not Planned.objects.exists()
    assert advance(task.campaign) == 0
    assert [one.person for one in Task.objects.filter(condition=task.condition, state="open")] == [carla]


def test_a_handover_that_waits_is_replaced_by_another_condition(
    handover: Planned, manual: Condition, task: Task, olga: Person
):
    change(task, olga, condition=another(manual))
    assert [(row.condition.name, row.person) for row in Planned.objects.all()] == [("Once more", task.person)]


def test_who_is_to_have_a_topic_is_not_replaced_by_who_had_it(
    handover: Planned, manual: Condition, task: Task, ben: Person, olga: Person
):
    drop(manual, "team.one", olga)
    drop(manual, "team.one", olga, is_out=False)
    assert [row.person for row in Planned.objects.all()] == [ben]


def test_two_rows_of_a_topic_are_no_harm(
    handover: Planned, task: Task, finished: NuggetBank, ben: Person, anna: Person
):
    Planned.objects.create(condition=task.condition, topic=task.topic, person=anna, waits_for="nuggets")
    finished.refresh_from_db()
    do(finished, nugget_actions.finish_bank)
    assert (advance(task.campaign), Planned.objects.count()) == (1, 0)
    assert Task.objects.get(condition=task.condition, state="open").person == ben


def test_who_gets_a_paused_topic_back_can_open_it(manual: Condition, task: Task, as_anna, anna: Person, olga: Person):
    change(task, olga, paused=True)
    withdraw_task(task=task, acting_user=olga)
    assert not give(manual, task.topic, anna).paused
    assert as_anna.get(f"/assign/{task.pk}/").status_code == 200


def test_who_saw_an_older_plan_is_refused(manual: Condition, task: Task, olga: Person, ben: Person):
    piece = piece_at(manual, task.topic)
    assert piece
    assert piece.seen == "anna, all, open"
    change(task, olga, rule="priority<=1")
    wanted = Wanted(manual, ben, "all", False, "why not")
    with pytest.raises(Stale):
        change_piece(piece=piece, wanted=wanted, seen=piece.seen, acting_user=olga)
    assert piece_at(manual, task.topic).seen == "anna, priority<=1, open"  # type: ignore[union-attr]


def test_what_cant_be_dropped(manual: Condition, task: Task, condition: Condition, olga: Person, import_file):
    import_file(manual.campaign, "runs", run_file("control.x", {"t1": ["All."]}), name="control.x")
    Run.objects.filter(tag="control.x").update(task=CONTROL)
    for of, tag, message in [
        (manual, "control.x", "is a control run"),
        (condition, "team.one", "no answers of runs are judged"),
    ]:
        with pytest.raises(PlanError, match=message):
            drop(of, tag, olga)
    with pytest.raises(PlanError, match="'best' is no rule of runs"):
        set_runs(condition=manual, topics=[task.topic], rule="best", acting_user=olga)
    assert not Planned.objects.exists()


@pytest.mark.parametrize("carry_on", ["again", "look"])
@pytest.mark.parametrize("is_out", [True, False])
def test_what_broke_off_while_a_run_was_dropped_or_brought_back_is_carried_on(
    manual: Condition, finished: NuggetBank, topic: Topic, anna: Person, olga: Person, monkeypatch, carry_on, is_out
):
    if not is_out:
        drop(manual, "team.one", olga)
    task = give(manual, topic, anna)

    def killed(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("assessor.plan.actions.changes.follow_scope", killed)
        with pytest.raises(KeyboardInterrupt):
            drop(manual, "team.one", olga, is_out=is_out)
    assert ("team.one" in scored(manual)) == is_out, "not followed yet"
    if carry_on == "again":
        drop(manual, "team.one", olga, is_out=is_out)
    else:
        settle(manual.campaign, acting_user=olga)
    assert ("team.one" in scored(manual)) != is_out
    assert counters(task)[2] == (2 if is_out else 3)
    assert Scope.objects.count() == (1 if is_out else 2), "it is said once"


def test_a_rule_is_followed_in_as_many_queries_however_many_answers_it_is_about(
    manual: Condition, task: Task, topic: Topic, anna: Person, olga: Person, import_file
):
    def changed(rule: str) -> int:
        set_rule(condition=manual, topics=[topic], rule=rule, reason="", acting_user=olga)
        with CaptureQueriesContext(connection) as queries:
            moved = follow_scope(manual, topic)
        assert sum(moved) == len(all_judged(manual, in_or_out=True))
        return len(queries)

    few = changed("none"), changed("all")
    for number in range(12):
        tag = f"more{number}"
        import_file(manual.campaign, "runs", run_file(tag, {"t1": ["Cats purr."]}), name=tag)
    give(manual, topic, anna)
    assert len(all_judged(manual)) == 15
    assert (changed("none"), changed("all")) == few
    assert {history(judged(manual, f"more{number}")).count() for number in range(12)} == {2}


def test_what_was_drawn_stays_drawn_though_it_had_to_wait_for_its_nuggets(
    manual: Condition, finished: NuggetBank, topic: Topic, anna: Person, olga: Person
):
    put_in_queue(topics=[topic], condition=manual, acting_user=olga, reason="all may")
    task = draw_next(condition=manual, person=anna)
    drop(manual, "team.one", olga)
    nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
    drop(manual, "team.one", olga, is_out=False)
    assert Planned.objects.get().person == anna
    finished.refresh_from_db()
    do(finished, nugget_actions.finish_bank)
    assert advance(manual.campaign) == 1
    assert Task.objects.get(pk=task.pk).leased_until == task.leased_until


def test_answers_that_a_rule_asks_for_no_longer_are_asked_though_that_broke_off(
    manual: Condition, finished: NuggetBank, topic: Topic, anna: Person, olga: Person
):
    Run.objects.filter(tag="team.two").update(priority=1)
    plan_work(condition=manual, topics=[topic], person=anna, rule="priority<=1", acting_user=olga)
    set_rule(condition=manual, topics=[topic], rule="all", reason="", acting_user=olga)
    settle(manual.campaign, acting_user=olga)
    assert counters(Task.objects.get(condition=manual))[2] == 3


def test_what_is_imported_of_a_dropped_run_stays_out(campaign, olga: Person, import_file):
    for qid in ("t1", "t2"):
        files = [imported.line(qid, run) for run in ("r1", "r2")]
        assert import_file(campaign, "assignments", files, **imported.FILE).state == "done"
        if qid == "t1":
            condition = Condition.objects.get(name=imported.FILE["condition"])
            drop(condition, "r1", olga)
    assert scored(condition) == ["r2", "r2"]
    assert [sheet.out_of_scope for sheet in all_judged(condition, in_or_out=True)] == [True, False, True, False]


def test_support_follows_too_with_its_equal_pairs(campaign, topic: Topic, anna: Person, olga: Person, import_file):
    judging_helpers.load_runs(campaign, import_file)
    twin = {"t1": [("Cats purr to heal.", ["d1"])]}
    import_file(campaign, "runs", judging_helpers.run_file("team.twin", twin), name="team.twin")
    protocol = campaign.protocol
    protocol.pk, protocol.version, protocol.equal_pairs_once = None, 2, True
    protocol.save()
    condition = judging_helpers.from_scratch(campaign)
    task = give(condition, topic, anna)
    client = client_of(anna)
    first = next(sheet for sheet in all_judged(task) if equal_first(sheet) and not sheet.settled_elsewhere)
    [other] = [sheet for sheet in all_judged(task) if sheet.settled_elsewhere]
    before = equal_first(other)
    assert send(client, first, "label", "0.0", label="full").status_code == 200
    assert given(other) == {"0.0": "full"}
    done, total = counters(task)[1:]
    tag = first.answer.run.tag
    drop(condition, tag, olga)
    assert tag not in "".join(support_lines(condition))
    assert counters(task) == ("open", done - len(first.labels) - 1, total - len(first.open))
    left = again(other)
    assert (equal_first(left), left.labels) == ({}, {"0.0": "full"}), "it has its own label"
    kept = again(first)
    assert (kept.labels, equal_first(kept)) == ({"0.0": "full"}, {})
    drop(condition, tag, olga, is_out=False)
    assert counters(task) == ("open", done, total)
    assert equal_first(other) == before
