"""No JSON of labels holds a key of the database: nobody could follow it, and archives would have to rewrite it."""

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Topic
from assessor.labels.manual_setups import label_again
from assessor.work.models import Task
from assignment.actions import resolve_label
from assignment.models import LabelEvent
from nuggets import actions as nugget_actions
from nuggets.actions import reopen_bank
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, C, sheet_of
from tests.assignment.lines import FILE, SUPPORT, line, nugget
from tests.judging import again, give, send
from tests.keys import FAR, far_keys, json_of_labels, keys_in  # noqa: F401  # fixture
from tests.nuggets.conftest import do

pytestmark = pytest.mark.usefixtures("far_keys")


def test_no_json_of_labels_holds_a_key(
    task: Task, finished: NuggetBank, nugget_ids, topic: Topic, ben: Person, olga: Person, as_anna: Client, import_file
):
    sheet = sheet_of(task, "team.one")
    assert min(sheet.pk, *nugget_ids.values()) > FAR
    send(as_anna, sheet, "label", nugget_ids[B], label="support")
    send(as_anna, sheet, "mark", nugget_ids[A], marks="[[0, 0, 4]]")
    send(as_anna, sheet, "flag", nugget_ids[B], note="too broad")
    send(as_anna, sheet, "cannot", nugget_ids[A], reason="garbled")
    send(as_anna, sheet, "later")
    Task.objects.filter(pk=task.pk).update(state="finished")
    second = label_again(of=task.condition, name="second", purpose="second", only_unjudgeable=True, acting_user=olga)
    other = sheet_of(give(second, topic, ben), "team.one")
    other.revise("label", {nugget_ids[A]: {"label": "partial_support"}}, judge_id=other.judge_id)
    resolve_label(sheet=again(sheet), nugget=nugget_ids[A], other=again(other), acting_user=olga)
    reopen_bank(finished, reason="a check", acting_user=olga)
    do(finished, nugget_actions.delete_nugget, uid=C)
    do(finished, nugget_actions.reword_nugget, uid=B, text="cats purr")
    do(finished, nugget_actions.finish_bank)
    imported = line(note={"a": 1}, said=[nugget("dogs bark", "vital", SUPPORT, by={"who": "x"})])
    assert import_file(finished.condition.campaign, "assignments", [imported], **FILE).state == "done"
    found = json_of_labels()
    for column in ("answersheet.extras", "assignment.raw", "assignment.marks", "labelevent.changes"):
        assert any(len(text) > 2 for text in found[f"assignment.{column}"]), f"{column} is empty: it shows nothing"
    assert LabelEvent.objects.exclude(nugget=None).count() > 5
    assert keys_in(found) == []
