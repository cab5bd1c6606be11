"""By which guidelines something was said: told where people look back at it, and in the table of judgments."""

import csv
import json
from html import unescape

from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Topic
from assessor.labels.history import said_under
from assessor.work.actions.guidelines import change_guidelines
from assessor.work.models import Task
from nuggets import actions
from nuggets.models import NuggetBank
from support.judgments_table import judgment_lines
from tests.assignment.conftest import A, B, C, answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of, open_guidelines
from tests.judging import all_judged, change, give, history, judgeable, judged, move, send, sign_off
from tests.nuggets.conftest import do, fill
from tests.nuggets.conftest import send as send_nugget
from tests.support.judging_helpers import from_scratch, load_runs


def renew(campaign: Campaign, kind: str, reader: Person) -> None:
    """Put version 2 of the guidelines in force, and have somebody open it."""
    change_guidelines(campaign=campaign, kind=kind, text="Look twice.", seen=1, acting_user=None)
    open_guidelines(reader, campaign, kind)


def under(response: HttpResponse) -> list[dict[str, int]]:
    """Return what the answers of a screen tell of guidelines, by item."""
    parts = response.content.decode().split('data-under="')[1:]
    return [json.loads(unescape(part.split('"')[0])) for part in parts]


def test_an_assessor_and_the_organizer_see_it_beside_each_nuggets_label(
    task: Task,  # noqa: F811
    nugget_ids,  # noqa: F811
    anna: Person,
    as_anna: Client,
    olga: Person,
):
    one, two = (sheet_of(task, tag) for tag in ("team.one", "team.two"))
    for uid in (A, B):
        assert send(as_anna, one, "label", nugget_ids[uid], label="support").status_code == 200
    renew(task.campaign, "assignment", anna)
    assert send(as_anna, one, "label", nugget_ids[B], label="not_support").status_code == 200
    assert send(as_anna, one, "cannot", nugget_ids[C], reason="garbled").status_code == 200
    assert send(as_anna, one, "flag", nugget_ids[A], note="odd").status_code == 200
    for uid in (A, B, C):
        assert send(as_anna, two, "label", nugget_ids[uid], label="support").status_code == 200
    across = as_anna.get(f"/assign/{task.pk}/nuggets/{nugget_ids[A]}/").content.decode()
    shown = [line.split("</span>")[0] for line in across.split('<span class="quiet">guidelines ')[1:]]
    assert sorted(shown) == ["v1", "v2"]  # answers are in an order by seed
    assert under(as_anna.get(f"/assign/{task.pk}/")) == [{}, {}], "the screen of open work says no more than it needs"
    assert sign_off(as_anna, task).status_code == 200
    wanted = {str(nugget_ids[uid]): version for uid, version in ((A, 1), (B, 2), (C, 2))}
    told = under(as_anna.get(f"/assign/{task.pk}/?answer={one.pk}"))
    assert wanted in told, told
    rows = client_of(olga).get(f"/assign/{task.pk}/").content.decode().split("<tr>")
    of_one = [row for row in rows if f"/assignment/{one.pk}/" in row]
    assert [("<td>v1</td>" in row, "<td>v2</td>" in row) for row in of_one] == [
        (True, False),
        (False, True),
        (False, True),
    ]


def test_what_was_taken_back_was_said_by_nothing(task: Task, nugget_ids, as_anna: Client):  # noqa: F811
    sheet, nugget = sheet_of(task, "team.one"), nugget_ids[A]
    told = history(sheet)
    send(as_anna, sheet, "label", nugget, label="support")
    assert said_under(told) == {(sheet.pk, str(nugget)): 1}
    # What nobody said who had opened any, as a file or an organizer, was said by none.
    change(sheet, {nugget: {"label": "not_support"}}, task_id=None)
    assert said_under(told) == {}


def test_it_stands_beside_citations_and_in_the_table_of_judgments(
    campaign: Campaign, import_file, topic: Topic, anna: Person, as_anna: Client, olga: Person
):
    load_runs(campaign, import_file)
    task = give(from_scratch(campaign), topic, anna)  # noqa: F811
    asked = [(sheet, key) for sheet in all_judged(task) for key in judgeable(sheet)]
    (first, key), *others = asked
    assert send(as_anna, first, "label", key, label="full").status_code == 200
    renew(campaign, "support", anna)
    for sheet, other in others:
        assert send(as_anna, sheet, "label", other, label="none").status_code == 200
    rows = list(csv.DictReader(judgment_lines(task.condition)))
    assert [row["guidelines_version"] for row in rows if row["label"] == "full"] == ["1"]
    assert {row["guidelines_version"] for row in rows if row["label"] == "none"} == {"2"}
    assert set().union(*under(as_anna.get(f"/support/{task.pk}/"))) == set()
    assert sign_off(as_anna, task).status_code == 200
    [told] = [one for one in under(as_anna.get(f"/support/{task.pk}/?answer={first.pk}")) if one.get(key) == 1]
    assert {version for item, version in told.items() if item != key} <= {2}
    page = client_of(olga).get(f"/support/{task.pk}/").content.decode()
    row = next(row for row in page.split("<tr>") if f"/support/{first.pk}/{key}/" in row)
    assert ("<td>v1</td>" in row, "<td>v2</td>" in page) == (True, True)


def test_it_goes_with_a_citation_that_moves(campaign: Campaign, import_file, topic: Topic, anna: Person, as_anna):
    load_runs(campaign, import_file)
    sheet = judged(give(from_scratch(campaign), topic, anna), "team.one")
    send(as_anna, sheet, "label", "0.0", label="full")
    move(sheet, "0.0", "0.1")
    change(sheet, {}, "citations moved", judge_id=None, task_id=None)
    told = history(sheet)
    assert said_under(told) == {(sheet.pk, "0.1"): 1}


def test_it_stands_with_finished_nuggets_and_in_their_lineage(bank: NuggetBank, as_anna: Client, anna, olga: Person):
    fill(bank, (A, "written by nobody's guidelines", "vital"))
    assert send_nugget(as_anna, bank, "add", uid=str(B), text="by the first").status_code == 200
    renew(bank.condition.campaign, "nuggets", anna)
    assert send_nugget(as_anna, bank, "add", uid=str(C), text="by the second").status_code == 200
    for uid in (B, C):
        do(bank, actions.set_importance, uid=uid, importance="okay")
    assert "by guidelines" not in as_anna.get(f"/nuggets/{bank.pk}/").content.decode()
    do(bank, actions.finish_bank)
    assert "Finished, read-only, by guidelines v1, v2</span>" in as_anna.get(f"/nuggets/{bank.pk}/").content.decode()
    page = client_of(olga).get(f"/nuggets/{bank.pk}/").content.decode()
    lineage = page.split('<details class="lineage">')[1].split("</details>")[0].split("<li>")[1:]
    assert [("guidelines v1" in line, "guidelines v2" in line) for line in lineage] == [
        (False, False),
        (True, False),
        (False, True),
    ]
