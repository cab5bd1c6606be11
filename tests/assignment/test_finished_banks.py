"""Banks that are finished again, and what becomes of labels."""

from collections.abc import Callable
from uuid import UUID

import pytest

from assessor.campaigns.models import Event
from assessor.work.actions import withdraw_task
from assessor.work.models import Task
from assignment.models import AnswerSheet, LabelEvent
from nuggets import actions as nugget_actions
from nuggets.actions import reopen_bank
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, C, sheet_of
from tests.judging import give, last_change, put
from tests.nuggets.conftest import do

NEW = UUID(int=200)
Again = Callable[..., NuggetBank]


@pytest.fixture
def labelled(task: Task, nugget_ids) -> AnswerSheet:
    """Anna's sheet of team.one: A support, B can't be judged, C not_support with a flag; the topic is signed off."""
    sheet = sheet_of(task, "team.one")
    said = {
        nugget_ids[A]: {"label": "support", "marks": [[0, 0, 4]]},
        nugget_ids[B]: {"cannot": "unclear"},
        nugget_ids[C]: {"label": "not_support", "flag": "odd"},
    }
    sheet.revise("label", said, judge_id=sheet.judge_id)
    other = sheet_of(task, "team.two")
    other.revise("label", {pk: {"label": "support"} for pk in nugget_ids.values()}, judge_id=other.judge_id)
    Task.objects.filter(pk=task.pk).update(state="finished", done=3)
    return sheet


@pytest.fixture
def again(finished: NuggetBank, olga) -> Again:
    """Reopen the bank, edit it, and finish it."""

    def run(*edits: tuple[Callable[..., object], dict[str, object]]) -> NuggetBank:
        reopen_bank(finished, reason="a check", acting_user=olga)
        for action, fields in edits:
            do(finished, action, **fields)
        do(finished, nugget_actions.finish_bank)
        finished.refresh_from_db()
        assert (finished.state, finished.edition) == ("finished", 2)
        return finished

    return run


def standing(sheet: AnswerSheet) -> tuple[object, ...]:
    sheet.refresh_from_db()
    return (sheet.labels, sheet.cannot, sheet.stale, sheet.flags, sheet.marks, sheet.to_do, sheet.edition)


def test_a_new_text_makes_its_labels_stale_and_brings_them_back(labelled, again: Again, task: Task, nugget_ids):
    again((nugget_actions.reword_nugget, {"uid": A, "text": "purring speeds healing"}))
    a, b, c = (str(nugget_ids[uid]) for uid in (A, B, C))
    assert standing(labelled) == ({c: "not_support"}, {b: "unclear"}, {a: "support"}, {c: "odd"}, {}, 1, 2)
    revision = LabelEvent.objects.filter(sheet=labelled).latest("version")
    assert (revision.verb, revision.judge, revision.edition) == ("nuggets changed", None, 2)
    assert last_change(labelled)[a]["label"] == ["support", None]
    task.refresh_from_db()
    assert (task.state, task.done, task.total) == ("open", 1, 3)


def test_what_could_not_be_judged_is_asked_again_with_a_new_text(labelled, again: Again, nugget_ids):
    again((nugget_actions.reword_nugget, {"uid": B, "text": "cats purr when they are content"}))
    a, c = (str(nugget_ids[uid]) for uid in (A, C))
    assert standing(labelled) == ({a: "support", c: "not_support"}, {}, {}, {c: "odd"}, {a: [[0, 0, 4]]}, 1, 2)


def test_importance_and_order_change_no_label(labelled, again: Again, task: Task):
    before = standing(labelled)
    again(
        (nugget_actions.set_importance, {"uid": A, "importance": "okay"}),
        (nugget_actions.move_nugget, {"uid": A, "to": 2}),
    )
    assert standing(labelled) == (*before[:-1], 2)
    task.refresh_from_db()
    assert (task.state, task.done) == ("finished", 3)


def test_a_new_nugget_is_missing_everywhere_but_by_rule(labelled, again: Again, task: Task, finished):
    again(
        (nugget_actions.add_nugget, {"uid": NEW, "text": "kittens purr early", "evidence": None}),
        (nugget_actions.set_importance, {"uid": NEW, "importance": "okay"}),
    )
    new = str(finished.nuggets.get(uid=NEW).pk)
    labelled.refresh_from_db()
    assert (labelled.to_do, len(labelled.labels)) == (1, 2)
    empty = sheet_of(task, "team.empty")
    assert (empty.to_do, empty.labels[new], len(empty.labels)) == (0, "not_support", 4)
    task.refresh_from_db()
    assert (task.state, task.done) == ("open", 1)


def test_a_deleted_nugget_leaves_with_its_labels(labelled, again: Again, task: Task, nugget_ids):
    again((nugget_actions.delete_nugget, {"uid": C}))
    a, b = (str(nugget_ids[uid]) for uid in (A, B))
    assert standing(labelled) == ({a: "support"}, {b: "unclear"}, {}, {}, {a: [[0, 0, 4]]}, 0, 2)
    task.refresh_from_db()
    assert (task.state, task.done) == ("finished", 3)
    gone = last_change(labelled)[str(nugget_ids[C])]
    assert gone == {"label": ["not_support", None], "flag": ["odd", None]}


def test_what_is_reworded_twice_still_says_what_it_was(labelled, again: Again, finished, olga, nugget_ids):
    again((nugget_actions.reword_nugget, {"uid": A, "text": "purring speeds healing"}))
    reopen_bank(finished, reason="once more", acting_user=olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="purring may speed healing")
    do(finished, nugget_actions.finish_bank)
    labelled.refresh_from_db()
    assert (labelled.stale, labelled.edition, labelled.to_do) == ({str(nugget_ids[A]): "support"}, 3, 1)


def test_a_part_of_the_nuggets_stays_a_part(labelled, again: Again, finished, nugget_ids):
    put([labelled], asked=[nugget_ids[B], nugget_ids[C]], labels={}, cannot={}, to_do=2)
    again(
        (nugget_actions.delete_nugget, {"uid": C}),
        (nugget_actions.add_nugget, {"uid": NEW, "text": "kittens purr early", "evidence": None}),
        (nugget_actions.set_importance, {"uid": NEW, "importance": "okay"}),
    )
    labelled.refresh_from_db()
    assert (labelled.asked, labelled.to_do) == ([nugget_ids[B]], 1)


def test_a_reopened_bank_alone_changes_nothing(labelled, finished, olga):
    before = standing(labelled)
    reopen_bank(finished, reason="a look", acting_user=olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="another text")
    assert standing(labelled) == before


def test_what_is_stale_of_somebody_taken_over_is_done_by_who_has_the_topic(
    task: Task, nugget_ids, manual, topic, ben, olga, again: Again
):
    done = sheet_of(task, "team.one")
    done.revise("label", {pk: {"label": "support"} for pk in nugget_ids.values()}, judge_id=done.judge_id)
    withdraw_task(task=task, acting_user=olga)
    taken = give(manual, topic, ben, reason="Anna left")
    other = sheet_of(taken, "team.two")
    other.revise("label", {pk: {"label": "support"} for pk in nugget_ids.values()}, judge_id=other.judge_id)
    Task.objects.filter(pk=taken.pk).update(state="finished", done=3)
    again((nugget_actions.reword_nugget, {"uid": A, "text": "purring speeds healing"}))
    done.refresh_from_db()
    assert (done.task, done.judge.person, done.labels, done.to_do) == (taken, ben, {}, 3)
    taken.refresh_from_db()
    assert (taken.state, taken.done, taken.total) == ("open", 1, 3)
    assert Event.objects.filter(verb="assignment opened again").count() == 1
    assert Task.objects.get(pk=task.pk).state == "withdrawn"
