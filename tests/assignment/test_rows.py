"""Labels as rows: where each comes from, which rows are read, and what becomes of them."""

import csv

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Event, Import
from assessor.runtime.sql import insert
from assessor.work.models import Task
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet, Assignment
from nuggets import actions as nugget_actions
from nuggets.actions import reopen_bank
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, C, sheet_of
from tests.conftest import client_of, make_person
from tests.judging import label_all, put, send
from tests.nuggets.conftest import do

State = Assignment.State


@pytest.fixture
def sheet(task: Task) -> AnswerSheet:
    return sheet_of(task, "team.one")


def row(sheet: AnswerSheet, nugget: int) -> Assignment:
    return Assignment.everything.get(sheet=sheet, nugget=nugget)


def test_a_label_stands_with_where_it_comes_from_and_goes_with_it(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    send(as_anna, sheet, "flag", nugget_ids[A], note="odd")
    assert (row(sheet, nugget_ids[A]).state, row(sheet, nugget_ids[A]).at) == (State.OPEN, None)
    send(as_anna, sheet, "label", nugget_ids[A], label="support", seconds="4")
    given = row(sheet, nugget_ids[A])
    assert (given.value, given.state, given.flag, given.seconds) == ("support", State.GIVEN, "odd", 4)
    assert given.guidelines_version == 1
    at = given.at
    assert at is not None
    send(as_anna, sheet, "flag", nugget_ids[A], note="very odd")
    assert row(sheet, nugget_ids[A]).at == at
    send(as_anna, sheet, "cannot", nugget_ids[A], reason="garbled", seconds="2")
    assert (row(sheet, nugget_ids[A]).value, row(sheet, nugget_ids[A]).reason) == (None, "garbled")
    assert row(sheet, nugget_ids[A]).seconds == 2
    send(as_anna, sheet, "label", nugget_ids[A], label="")
    gone = row(sheet, nugget_ids[A])
    assert (gone.state, gone.value, gone.reason, gone.seconds, gone.at) == (State.OPEN, None, "", None, None)
    assert Assignment.everything.filter(sheet=sheet).count() == 1, "of the others nobody said anything"


def test_counts_on_the_answer_follow_its_rows(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    def counts() -> tuple[int, int, int]:
        sheet.refresh_from_db()
        return sheet.to_do, sheet.unjudgeable, sheet.flagged

    assert counts() == (3, 0, 0)
    send(as_anna, sheet, "cannot", nugget_ids[A], reason="garbled")
    send(as_anna, sheet, "cannot", nugget_ids[B], reason="garbled")
    send(as_anna, sheet, "flag", nugget_ids[C], note="odd")
    assert counts() == (1, 2, 1)
    send(as_anna, sheet, "label", nugget_ids[A], label="support")
    send(as_anna, sheet, "flag", nugget_ids[C], note="")
    assert counts() == (1, 1, 0)


def test_a_nugget_that_left_the_bank_keeps_its_row_and_is_asked_again_when_it_comes_back(
    task: Task, sheet: AnswerSheet, finished: NuggetBank, nugget_ids, olga: Person, as_anna: Client
):
    label_all(as_anna, sheet)
    before = row(sheet, nugget_ids[C]).pk
    reopen_bank(finished, reason="a check", acting_user=olga)
    do(finished, nugget_actions.delete_nugget, uid=C)
    do(finished, nugget_actions.finish_bank)
    removed = row(sheet, nugget_ids[C])
    assert (removed.pk, removed.state, removed.value) == (before, State.REMOVED, None)
    line = next(line for line in assignment_lines(task.condition) if "team.one" in line)
    assert line.count('"assignment"') == 2
    reopen_bank(finished, reason="after all", acting_user=olga)
    do(finished, nugget_actions.undo)
    do(finished, nugget_actions.finish_bank)
    back = row(sheet, nugget_ids[C])
    sheet.refresh_from_db()
    assert (back.pk, back.state, back.value, sheet.to_do) == (before, State.OPEN, None, 1)


def test_labels_of_answers_that_are_not_judged_or_not_there_yet_are_read_by_nobody_who_does_not_ask(
    task: Task, sheet: AnswerSheet, as_anna: Client, olga: Person
):
    label_all(as_anna, sheet)
    root = client_of(make_person("root", "administrator"))

    def read() -> list[int]:
        by_admin = root.get("/admin/assignment/assignment/", {"q": "team.one"})
        lines = list(assignment_lines(task.condition))
        return [
            Assignment.objects.filter(sheet=sheet).count(),
            sheet.assignments.count(),
            by_admin.context["cl"].result_count,
            sum(line.count('"assignment"') for line in lines if "team.one" in line),
        ]

    assert read() == [3, 3, 3, 3]
    put([sheet], out_of_scope=True)
    assert read() == [0, 0, 0, 0]
    assert Assignment.in_or_out.filter(sheet=sheet).count() == 3
    running = Import.objects.create(campaign=task.campaign, kind="assignments", file_name="x", state="running")
    put([sheet], out_of_scope=False, import_record=running)
    assert read() == [0, 0, 0, 0]
    assert Assignment.in_or_out.filter(sheet=sheet).count() == 0
    with connection.cursor() as cursor:  # whoever writes SQL sees all, and has the mark beside it
        cursor.execute(
            "SELECT count(*) FROM assignment_assignment label JOIN assignment_answersheet sheet"
            " ON sheet.id = label.sheet_id WHERE NOT sheet.out_of_scope AND sheet.id = %s",
            [sheet.pk],
        )
        assert cursor.fetchone() == (3,)


def test_a_label_is_found_in_the_admin_in_three_clicks(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    send(as_anna, sheet, "label", nugget_ids[B], label="partial_support")
    root = client_of(make_person("root", "administrator"))
    assert b"/admin/assignment/assignment/" in root.get("/admin/").content
    found = root.get("/admin/assignment/assignment/", {"q": "t1 team.one"})
    [label] = found.context["cl"].result_list
    page = root.get(f"/admin/assignment/assignment/{label.pk}/change/").content.decode()
    assert "partial_support" in page
    assert label.nugget.text in page


def test_labels_that_are_searched_for_in_the_admin_are_exported(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    send(as_anna, sheet, "label", nugget_ids[B], label="partial_support", seconds=4)
    send(as_anna, sheet, "cannot", nugget_ids[A], reason='it says "no", or does it?')
    root = client_of(make_person("root", "administrator"))
    chosen = {"action": "export_labels", "_selected_action": [row(sheet, nugget_ids[uid]).pk for uid in (A, B)]}
    found = root.post("/admin/assignment/assignment/", chosen)
    head, *rows = csv.reader(b"".join(found).decode().splitlines())
    assert head[:9] == ["campaign", "condition", "qid", "run_id", "nugget", "label", "state", "resolved", "reason"]
    assert sorted(one[2:8] for one in rows) == [
        ["t1", "team.one", "cats purr when content", "partial_support", "given", ""],
        ["t1", "team.one", "purring heals", "", "unjudgeable", ""],
    ]
    assert sorted((one[8], one[10]) for one in rows) == [("", "anna"), ('it says "no", or does it?', "anna")]
    assert Event.objects.filter(verb="exported", subject="labels.csv").exists()


@pytest.mark.parametrize("rows", [2, 25])
def test_a_label_twice_is_an_error_of_the_database_however_many_are_written(sheet: AnswerSheet, nugget_ids, rows: int):
    """Many are copied into PostgreSQL, past Django's cursor."""
    row = (sheet.pk, nugget_ids[A], "support", "given", None)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Assignment, ("sheet", "nugget", "value", "state", "raw"), [row] * rows)
    assert not Assignment.objects.filter(sheet=sheet).exists()


def test_what_was_just_said_is_known_to_who_says_more(sheet: AnswerSheet, nugget_ids):
    [read] = AnswerSheet.with_items(AnswerSheet.objects.filter(pk=sheet.pk))
    read.revise("label", {nugget_ids[A]: {"label": "support"}}, judge_id=None)
    assert read.labels == {str(nugget_ids[A]): "support"}
    read.revise("label", {nugget_ids[A]: {"label": "not_support"}}, judge_id=None)
    assert (row(sheet, nugget_ids[A]).value, read.version) == ("not_support", 2)


def test_a_column_that_is_read_late_takes_no_label_away(sheet: AnswerSheet, nugget_ids):
    """An event tells the edition, which is not known before the label is said."""
    part = AnswerSheet.objects.only("version", "to_do").get(pk=sheet.pk)
    part.revise("label", {nugget_ids[A]: {"label": "support"}}, judge_id=None)
    assert row(sheet, nugget_ids[A]).value == "support"


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "given", "value": None},
        {"state": "outdated", "value": None},
        {"state": "open", "value": "support"},
        {"state": "unjudgeable", "value": "support"},
        {"state": "removed", "value": "support"},
        {"state": "given", "value": "support", "resolved_value": "support"},
        {"state": "said", "value": None},
    ],
)
def test_no_row_says_two_things(sheet: AnswerSheet, nugget_ids, columns: dict[str, str | None]):
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(sheet=sheet, nugget_id=nugget_ids[A], **columns)
    Assignment.objects.create(sheet=sheet, nugget_id=nugget_ids[A])
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(sheet=sheet, nugget_id=nugget_ids[A])
