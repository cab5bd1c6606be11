"""The way of one label: all that is recorded about it, in order, and what it is in the scores now."""

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Topic
from assessor.desk.label_history import label_history_of
from assessor.labels.replies import reply
from nuggets import actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.judging import Judged, again, give, judged, label_all, leave_out, send
from tests.nuggets.conftest import do
from tests.support.judging_helpers import load_runs, post_edited


@pytest.fixture
def sheet(task) -> Judged:  # noqa: F811
    return sheet_of(task, "team.one")


def told(sheet: Judged, item: object) -> list[str]:
    return [f"{step.who}: {step.what}" for step in label_history_of(again(sheet), str(item)).steps]


def test_the_way_of_a_nuggets_label(sheet: Judged, nugget_ids, bank: NuggetBank, anna: Person, olga: Person):  # noqa: F811
    nugget = nugget_ids[A]
    as_anna = client_of(anna)
    label_all(as_anna, sheet, "partial_support")
    assert send(as_anna, sheet, "flag", nugget, note="odd").status_code == 200
    reply(task=sheet.task, sheet=sheet.pk, item=str(nugget), question="odd", text="Go on.", acting_user=olga)
    leave_out(sheet.condition, nugget, "unclear", olga)
    steps = told(sheet, nugget)
    wanted = [
        "system: topic t1 came with file",
        "anna: nugget written by a person",
        ": edition 1 of the bank: “purring heals”, vital",
        "olga: condition Manual/Manual: ",
        "system: assignment of t1 by anna was made",
        "anna: label; label — → partial_support; edition 1 of the bank; ",
        "anna: flag; flag — → odd; edition 1 of the bank",
        "olga: answered “odd”: Go on.",
        "olga: left out of the scores: unclear",
    ]
    places = [next(at for at, step in enumerate(steps) if step.startswith(start)) for start in wanted[1:]]
    assert places == sorted(places), steps
    assert any(step.startswith(wanted[0]) for step in steps)
    assert "the answer of team.one came with team.one" in " ".join(steps)
    assert label_history_of(again(sheet), str(nugget)).standing == [("labels", "partial_support"), ("flags", "odd")]
    other = nugget_ids[max(nugget_ids)]
    assert not [step for step in told(sheet, other) if "flag" in step or "answered" in step or "left out" in step]


def test_what_an_edition_does_to_a_label_is_told(sheet: Judged, nugget_ids, bank: NuggetBank, anna, olga):  # noqa: F811
    nugget = nugget_ids[A]
    label_all(client_of(anna), sheet, "support")
    way = label_history_of(again(sheet), str(nugget))
    assert way.scores[0].state == "complete"
    assert ("vstrict", "1", "1", "1.0000", "1.0000") in way.scores[0].rows
    actions.reopen_bank(bank, reason="a typo", acting_user=olga)
    do(bank, actions.reword_nugget, uid=A, text="purring mends bones")
    do(bank, actions.finish_bank)
    way = label_history_of(again(sheet), str(nugget))
    steps = [step.what for step in way.steps]
    assert any("reword of the nugget; text purring heals → purring mends bones" in step for step in steps), steps
    assert "edition 2 of the bank: “purring mends bones”, vital; labels on it: stale" in steps
    assert ("stale", "support") in way.standing
    assert way.scores[0].state == "incomplete"
    assert way.scores[0].rows[0] == ("vstrict", "", "", "—", "—"), "a stale label counts nothing"


def test_the_way_of_a_citations_label(campaign: Campaign, import_file, topic: Topic, anna: Person, olga: Person):
    load_runs(campaign, import_file)
    task = give(post_edited(campaign), topic, anna)  # noqa: F811
    sheet = judged(task, "team.one")
    as_anna = client_of(anna)
    as_anna.get(f"/support/{task.pk}/")
    assert send(as_anna, sheet, "show", "0.0").status_code == 200
    assert send(as_anna, sheet, "label", "0.0", label="full", seconds=4).status_code == 200
    steps = told(sheet, "0.0")
    assert any("label; label — → full" in step and "4 active seconds" in step for step in steps), steps
    assert any(step.startswith("anna: saw support that a model or others gave on the topic") for step in steps), steps
    assert label_history_of(again(sheet), "0.0").item == "Cats purr to heal. — d1"
    assert ("shown", "partial") in label_history_of(again(sheet), "0.0").standing
    page = client_of(olga).get(f"/campaigns/study/labels/support/{sheet.pk}/0.0/").content.decode()
    assert ("Cats purr to heal." in page, "label — → full" in page) == (True, True)
    as_olga = client_of(olga)
    for address in ("support/999/0.0", f"support/{sheet.pk}/7.7", f"assignment/{sheet.pk}/1", f"nuggets/{sheet.pk}/1"):
        assert as_olga.get(f"/campaigns/study/labels/{address}/").status_code == 404, address
    assert f"/campaigns/study/labels/support/{sheet.pk}/0.0/" in as_olga.get(f"/support/{task.pk}/").content.decode()
