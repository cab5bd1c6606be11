"""No JSON of labels holds a key of the database: nobody could follow it, and archives would have to rewrite it."""

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.labels.manual_setups import label_again
from support.actions import resolve_label
from support.models import LabelEvent
from tests.conftest import client_of
from tests.judging import again, give, send, sign_off
from tests.keys import FAR, far_keys, json_of_labels, keys_in  # noqa: F401  # fixture
from tests.support.judging_helpers import from_scratch, load_runs, run_file, sheet_of
from tests.support.lines import FILE, cites, line

pytestmark = pytest.mark.usefixtures("far_keys")
SAME = {"t1": [("Cats purr.", ["d1"]), ("Cats purr.", ["d1"])]}


def test_no_json_of_labels_holds_a_key(campaign, topic, anna: Person, ben: Person, olga: Person, import_file):
    load_runs(campaign, import_file)
    for tag in ("same.one", "same.two"):
        assert import_file(campaign, "runs", run_file(tag, SAME), name=tag).state == "done"
    change_protocol(campaign=campaign, settings={"equal_pairs_once": True}, acting_user=olga)
    first = from_scratch(campaign)
    task, client = give(first, topic, anna), client_of(anna)
    sheet = min((sheet_of(task, tag) for tag in ("same.one", "same.two")), key=lambda one: one.place)
    assert sheet.pk > FAR
    assert send(client, sheet, "flag", "0.0", note="odd").status_code == 200
    assert send(client, sheet, "label", "0.0", label="full").json()["equal"], "labels of equals say whose they were"
    for one in task.support_sheets.all():
        for key in one.open:
            if not again(one).is_said(key):
                send(client, again(one), "cannot", key, reason="garbled")
    assert sign_off(client, task).status_code == 200
    second = label_again(of=first, name="second", purpose="second", acting_user=olga)
    unjudged = task.support_sheets.filter(unjudgeable__gt=0).earliest("pk")
    other = sheet_of(give(second, topic, ben), unjudged.answer.run.tag)
    item = next(iter(unjudged.cannot))
    other.revise("label", {item: {"label": "partial"}}, judge_id=other.judge_id)
    resolve_label(sheet=again(unjudged), citation=item, other=again(other), acting_user=olga)
    imported = [line("t1", "filed", cites("Cats purr.", d1="nonsense"))]
    assert import_file(campaign, "support", imported, invalid_labels="missing", **FILE).state == "done"
    found = json_of_labels()
    for column in ("supportjudgment.raw", "labelevent.changes"):
        assert any(len(text) > 2 for text in found[f"support.{column}"]), f"{column} is empty: it shows nothing"
    assert LabelEvent.objects.exclude(equal_to=None).exists()
    assert keys_in(found) == []
