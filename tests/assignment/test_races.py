"""Many labels at the same moment, each on a connection of its own."""

from collections import Counter
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.collection.models import Event, Person
from assessor.work.models import Task, Write
from assignment.models import AnswerSheet, LabelEvent
from tests.assignment.conftest import A, B, C, sheet_of
from tests.conftest import client_of
from tests.judging import counters, label_all, send, sign_off, stands
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 12
LABELS = ("support", "partial_support", "not_support")


def labelling(
    client: Client, sheet: AnswerSheet, nugget: int, key: UUID, label: str, version: int
) -> Callable[[], HttpResponse]:
    return lambda: send(client, sheet, "label", nugget, key=key, version=version, label=label)


def test_the_same_label_many_times_at_once_counts_once(task: Task, nugget_ids, anna: Person):
    sheet, key, written = sheet_of(task, "team.one"), uuid4(), Write.objects.count()
    calls = [labelling(client_of(anna), sheet, nugget_ids[A], key, "support", 0) for _ in range(THREADS)]
    responses = at_once(calls)
    assert [(response.status_code, response.json()) for response in responses] == [
        (200, {"version": 1, "to_do": 2})
    ] * THREADS
    assert stands(sheet) == {"labels": {str(nugget_ids[A]): "support"}, "to_do": 2}
    assert (LabelEvent.objects.count(), Write.objects.count()) == (1, written + 1)


def test_of_many_labels_on_one_version_one_stands(task: Task, nugget_ids, anna: Person):
    sheet = sheet_of(task, "team.one")
    for uid in (B, C):
        send(client_of(anna), sheet, "label", nugget_ids[uid], label="support")
    given = [LABELS[number % 3] for number in range(THREADS)]
    responses = at_once([labelling(client_of(anna), sheet, nugget_ids[A], uuid4(), label, 2) for label in given])
    assert Counter(response.status_code for response in responses) == {200: 1, 409: THREADS - 1}
    [winner] = [label for label, response in zip(given, responses, strict=True) if response.status_code == 200]
    key = str(nugget_ids[A])
    assert stands(sheet)["labels"][key] == winner
    for response in responses:
        if response.status_code == 409:
            assert response.json()["said"]["labels"][key] == winner
    assert list(LabelEvent.objects.values_list("version", flat=True)) == [1, 2, 3]
    assert counters(task) == ("open", 2, 3)


def test_labels_of_different_answers_do_not_hinder_each_other(task: Task, nugget_ids, anna: Person):
    sheets = [sheet_of(task, tag) for tag in ("team.one", "team.two")]

    def label_one_after_another(sheet: AnswerSheet) -> Callable[[], list[int]]:
        client = client_of(anna)
        return lambda: [
            send(client, sheet, "label", nugget, version=version, label=LABELS[version]).status_code
            for version, nugget in enumerate(nugget_ids.values())
        ]

    assert at_once([label_one_after_another(sheet) for sheet in sheets]) == [[200, 200, 200]] * 2
    wanted = {str(nugget): label for nugget, label in zip(nugget_ids.values(), LABELS, strict=True)}
    assert [stands(sheet) for sheet in sheets] == [{"labels": wanted, "to_do": 0}] * 2
    assert counters(task) == ("open", 3, 3)


def test_nothing_slips_in_once_a_topic_is_signed_off(task: Task, nugget_ids, anna: Person):
    sheet, other = (sheet_of(task, tag) for tag in ("team.one", "team.two"))
    for one in (sheet, other):
        label_all(client_of(anna), one)

    def call(number: int) -> Callable[[], HttpResponse]:
        client = client_of(anna)
        if number % 2:
            return lambda: send(client, sheet, "label", nugget_ids[A], version=3, label="")
        return lambda: sign_off(client, task, version=6)

    responses = at_once([call(number) for number in range(THREADS)])
    assert Counter(response.status_code for response in responses) == {200: 1, 409: THREADS - 1}
    if counters(task)[0] == "finished":
        assert (stands(sheet)["to_do"], Event.objects.filter(verb="assignment signed off").count()) == (0, 1)
        assert counters(task) == ("finished", 3, 3)
    else:
        assert (stands(sheet)["to_do"], counters(task)) == (1, ("open", 2, 3))
    assert LabelEvent.objects.filter(sheet=sheet).count() == AnswerSheet.objects.get(pk=sheet.pk).version
