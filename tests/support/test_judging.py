"""What people say of citations: each is stored once, on the version that was seen, and as a revision."""

import csv
from collections import Counter
from html import unescape
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.collection.models import Condition, Event, Person
from assessor.work.actions import withdraw_task
from assessor.work.models import Exposure, Task, Write
from assessor.work.writes import Closed
from support.access import own_sheet
from support.actions import give_label
from support.listing import judgment_lines
from support.models import LabelEvent, SupportSheet
from tests.conftest import client_of
from tests.judging import WRITES, answers, counters, everything, give, put, queue, said, send, sign_off, stands, url
from tests.support.judging_helpers import RUNS, from_scratch, run_file, sheet_of
from tests.work.conftest import at_once

CLOSED = "This topic is signed off: its labels can be read, no longer changed."


# Labels


def test_a_label_is_kept_with_who_gave_it_and_counts(sheet: SupportSheet, task, anna: Person, as_anna: Client):
    response = send(as_anna, sheet, "label", "0.0", label="partial", seconds=12)
    assert (response.status_code, response.json()) == (200, {"version": 1, "to_do": 1})
    assert response["X-Assay-Write"] == "1"
    assert stands(sheet) == {"labels": {"0.0": "partial"}, "to_do": 1}
    revision = LabelEvent.objects.get()
    assert (revision.sheet, revision.version, revision.verb) == (sheet, 1, "label")
    assert revision.changes_by_item == {"0.0": {"label": [None, "partial"]}}
    assert (revision.judge.person, revision.task, revision.job) == (anna, task, None)
    assert (revision.seconds, revision.reason) == (12, "")
    assert Task.objects.get(pk=task.pk).worked_at is not None
    assert counters(task) == ("open", 1, 3)
    assert not Exposure.objects.exists()


def test_a_label_takes_the_reason_away_and_a_reason_the_label(sheet: SupportSheet, task, as_anna: Client):
    send(as_anna, sheet, "cannot", "0.0", reason=" all \n Greek ", seconds=3)
    assert stands(sheet) == {"cannot": {"0.0": "all Greek"}, "to_do": 1}
    assert counters(task) == ("open", 1, 3)
    send(as_anna, sheet, "label", "0.0", label="full")
    assert stands(sheet) == {"labels": {"0.0": "full"}, "to_do": 1}
    send(as_anna, sheet, "cannot", "0.0", reason="after all")
    assert stands(sheet) == {"cannot": {"0.0": "after all"}, "to_do": 1}
    send(as_anna, sheet, "label", "0.0", label="")
    assert stands(sheet) == {"to_do": 2}
    assert counters(task) == ("open", 0, 3)
    told = [(one.verb, one.changes_by_item, one.seconds) for one in LabelEvent.objects.order_by("version")]
    assert list(told) == [
        ("can't judge", {"0.0": {"cannot": [None, "all Greek"]}}, 3),
        ("label", {"0.0": {"label": [None, "full"], "cannot": ["all Greek", None]}}, None),
        ("can't judge", {"0.0": {"cannot": [None, "after all"], "label": ["full", None]}}, None),
        ("take back", {"0.0": {"cannot": ["after all", None]}}, None),
    ]


def test_who_judges_after_all_is_not_spoken_for_any_more(sheet: SupportSheet, as_anna: Client):
    send(as_anna, sheet, "cannot", "0.0", reason="garbled")
    put([sheet], adopted={"0.0": "none"})
    assert send(as_anna, sheet, "label", "0.0", label="full").status_code == 200
    assert SupportSheet.objects.get(pk=sheet.pk).adopted == {}
    assert LabelEvent.objects.latest("pk").changes_by_item["0.0"]["adopted"] == ["none", None]


def test_a_flag_stands_beside_a_label_and_goes_again(sheet: SupportSheet, as_anna: Client):
    send(as_anna, sheet, "flag", "1.0", note="  is this <b>meant</b>? ")
    assert stands(sheet) == {"flags": {"1.0": "is this <b>meant</b>?"}, "to_do": 2}
    send(as_anna, sheet, "label", "1.0", label="none")
    send(as_anna, sheet, "flag", "1.0", note="")
    assert stands(sheet) == {"labels": {"1.0": "none"}, "to_do": 1}


def test_an_answer_put_off_comes_last_and_back(task: Task, sheet: SupportSheet, as_anna: Client):
    other = sheet_of(task, "team.two")
    before = [row[0] for row in queue(as_anna.get(f"/support/{task.pk}/"))]
    first = SupportSheet.objects.get(pk=before[0])
    assert set(before) == {sheet.pk, other.pk}
    assert send(as_anna, first, "later").json() == {"version": 1, "to_do": first.to_do}
    page = as_anna.get(f"/support/{task.pk}/")
    assert [row[0] for row in queue(page)] == before[::-1]
    assert [row[1] for row in queue(page)] == [2, 1], "they keep their numbers"
    assert send(as_anna, first, "later", to=2).status_code == 400
    assert send(as_anna, first, "later", to=0).status_code == 200
    assert [row[0] for row in queue(as_anna.get(f"/support/{task.pk}/"))] == before


@pytest.mark.parametrize(
    ("verb", "fields", "told"),
    [
        ("label", {"label": "supported"}, "A label is one of full, partial, none."),
        ("label", {"label": "not judged"}, "A label is one of full, partial, none."),
        ("label", {}, "There is no label."),
        ("label", {"label": "full", "seconds": "-1"}, "seconds must be a whole number, from 0."),
        ("cannot", {"reason": " \n "}, "Say why it can't be judged."),
        ("cannot", {"reason": "x" * 501}, "A reason or a note has at most 500 characters and no NUL."),
        ("cannot", {"reason": "a\x00b"}, "A reason or a note has at most 500 characters and no NUL."),
        ("flag", {"note": "x" * 501}, "A reason or a note has at most 500 characters and no NUL."),
        ("later", {"to": "x"}, "to must be a whole number, from 0."),
        ("show", {}, "No model's label is shown here."),
    ],
)
def test_what_is_wrong_is_told_and_changes_nothing(sheet, as_anna: Client, verb: str, fields: dict, told: str):
    before = everything()
    response = send(as_anna, sheet, verb, "0.0", **fields)
    assert (response.status_code, response.content.decode()) == (400, told)
    assert response["X-Assay-Write"] == "1"
    assert everything() == before


@pytest.mark.parametrize("verb", ["label", "cannot", "flag"])
def test_only_what_is_asked_can_be_judged(task, sheet, as_anna: Client, verb: str):
    before = everything()
    for citation in ("2.0", "1.1", "7.0", "0", "0.0.0", "x", "", "0.0\x00"):
        response = send(as_anna, sheet, verb, citation, **WRITES["support"][verb])
        assert (response.status_code, response.content) == (400, b"There is no such citation to be judged here."), (
            citation
        )
    assert send(as_anna, sheet, verb, **WRITES["support"][verb]).status_code == 400
    response = send(as_anna, sheet_of(task, "team.two"), verb, "1.0", **WRITES["support"][verb])
    assert response.status_code == 410
    assert response.content.decode() == "This citation can't be judged: the text of what it cites is not loaded."
    assert everything() == before


# Writes


@pytest.mark.parametrize("verb", [verb for verb in WRITES["support"] if verb != "show"])
def test_sent_twice_it_counts_once(sheet: SupportSheet, as_anna: Client, verb: str):
    key, written = uuid4(), Write.objects.count()
    responses = [send(as_anna, sheet, verb, "0.0", key=key, version=0, **WRITES["support"][verb]) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 200]
    assert len({response.content for response in responses}) == 1
    assert (LabelEvent.objects.count(), Write.objects.count()) == (1, written + 1)


def test_a_key_is_good_for_one_write(sheet: SupportSheet, as_anna: Client):
    key = uuid4()
    send(as_anna, sheet, "label", "0.0", key=key, version=0, label="full")
    assert send(as_anna, sheet, "label", "0.0", key=key, version=0, label="none").status_code == 400
    assert stands(sheet)["labels"] == {"0.0": "full"}


@pytest.mark.parametrize("verb", [verb for verb in WRITES["support"] if verb != "show"])
def test_on_an_old_version_it_is_refused_with_what_stands(sheet: SupportSheet, as_anna: Client, verb: str):
    send(as_anna, sheet, "label", "1.0", label="none")
    before = everything()
    response = send(as_anna, sheet, verb, "0.0", version=0, **WRITES["support"][verb])
    assert (response.status_code, response["X-Assay-Write"]) == (409, "1")
    stands = {"labels": {"1.0": "none"}, "cannot": {}, "flags": {}, "shown": {}}
    assert response.json() == {
        "version": 1,
        "to_do": 1,
        "put_off": 0,
        "said": {"open": ["0.0", "1.0"], "equal": []} | stands,
        "closed": "",
    }
    assert everything() == before


def test_without_key_or_version_it_is_refused(sheet: SupportSheet, as_anna: Client):
    for key, version in (("x", 0), (uuid4(), "x")):
        assert send(as_anna, sheet, "label", "0.0", key=key, version=version, label="full").status_code == 400
    assert as_anna.post(url(sheet, "label"), {"citation": "0.0", "label": "full"}).status_code == 400
    assert not LabelEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_labels_on_one_version_one_stands(task, sheet: SupportSheet, anna: Person):
    client = client_of(anna)
    given = ["full", "partial", "none"] * 4

    def labelling(label: str):
        return lambda: send(client_of(anna), sheet, "label", "0.0", version=0, label=label)

    responses = at_once([labelling(label) for label in given])
    assert Counter(response.status_code for response in responses) == {200: 1, 409: 11}
    [winner] = [label for label, response in zip(given, responses, strict=True) if response.status_code == 200]
    assert stands(sheet)["labels"] == {"0.0": winner}
    assert counters(task) == ("open", 1, 3)
    assert client.get(f"/support/{task.pk}/").status_code == 200


def test_a_label_asks_the_database_little(sheet: SupportSheet, as_anna: Client):
    send(as_anna, sheet, "label", "1.0", label="full")
    with CaptureQueriesContext(connection) as queries:
        assert send(as_anna, sheet, "label", "0.0", version=1, label="full").status_code == 200
    told = [
        query["sql"] for query in queries if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))
    ]
    # Session and person; the sheet; the key; the sheet's change, its revision, the task's counters.
    assert len(told) <= 8, told


def test_beside_a_models_label_it_asks_hardly_more(beside: SupportSheet, as_anna: Client):
    assert beside.answer
    send(as_anna, sheet_of(beside.task, "team.two"), "show", "0.0")
    asked = []
    for verb in ("show", "label"):
        with CaptureQueriesContext(connection) as queries:
            assert send(as_anna, beside, verb, "0.0", **WRITES["support"][verb], version=len(asked)).status_code == 200
        told = [query["sql"] for query in queries]
        asked.append([one for one in told if not one.startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))])
    # As above; to show it takes the model's label and the key's result besides.
    assert [len(told) for told in asked] == [10, 8], asked


# Signing off


def test_signing_off_ends_the_topic(task: Task, sheet: SupportSheet, anna: Person, as_anna: Client):
    for one, key in ((sheet, "0.0"), (sheet, "1.0"), (sheet_of(task, "team.two"), "0.0")):
        refused = sign_off(as_anna, task)
        assert refused.status_code == 400
        assert "There is still something to say of" in refused.content.decode()
        send(as_anna, one, "label", key, label="full")
    assert counters(task) == ("open", 3, 3)
    assert sign_off(as_anna, task, version=2).status_code == 409
    assert counters(task)[0] == "open"
    key = uuid4()
    assert [sign_off(as_anna, task, key=key, version=3).status_code for _ in range(2)] == [200, 200]
    assert counters(task) == ("finished", 3, 3)
    assert Event.objects.filter(verb="support signed off", person=anna).count() == 1
    before = everything()
    for verb, fields in WRITES["support"].items():
        response = send(as_anna, sheet, verb, "0.0", **fields)
        if verb == "show":
            assert response.status_code == 400
        else:
            assert (response.status_code, response.json()["closed"]) == (409, CLOSED), verb
    assert send(as_anna, sheet, "label", "0.0", version=0, label="none").json()["closed"] == CLOSED
    assert sign_off(as_anna, task).json() == {"closed": CLOSED}
    assert everything() == before
    page = as_anna.get(f"/support/{task.pk}/")
    assert f'data-closed="{CLOSED}"' in page.content.decode()
    assert {**said(page)[0]["labels"], **said(page)[1]["labels"]} == {"0.0": "full", "1.0": "full"}


def test_what_was_read_before_a_topic_ended_is_not_written_after(task: Task, sheet: SupportSheet, anna: Person):
    own = own_sheet(anna, task.pk, sheet.pk)
    for state in ("finished", "withdrawn"):
        Task.objects.filter(pk=task.pk).update(state=state)
        with pytest.raises(Closed), transaction.atomic():
            give_label(own, citation="0.0", label="full", seconds=None, seen=0)
        own.sheet.refresh_from_db()
    assert stands(sheet) == {"to_do": 2}


def test_signing_off_waits_for_answers_that_are_somebody_elses(task: Task, sheet: SupportSheet, ben, as_anna: Client):
    two = sheet_of(task, "team.two")
    for key in ("0.0", "1.0"):
        send(as_anna, sheet, "label", key, label="full")
    bens = Task.objects.create(
        campaign=task.campaign, topic=task.topic, condition=task.condition, kind="support", person=ben
    )
    SupportSheet.objects.filter(pk=two.pk).update(task=bens)
    refused = sign_off(as_anna, task)
    assert (refused.status_code, "not among yours" in refused.content.decode()) == (400, True)
    assert counters(task)[0] == "open"


def test_a_task_withdrawn_meanwhile_takes_no_label(task, sheet, olga: Person, as_anna: Client):
    withdraw_task(task=task, acting_user=olga)
    before = everything()
    for verb, fields in WRITES["support"].items():
        assert send(as_anna, sheet, verb, "0.0", **fields).status_code == 404
    assert everything() == before


# Beside a model's label


def test_showing_tells_the_label_and_records_that_it_was_seen(beside: SupportSheet, edited, anna, as_anna: Client):
    before = everything()
    response = as_anna.get(f"/support/{beside.task_id}/")
    assert answers(response)
    assert as_anna.get(url(beside)).status_code == 200
    assert everything() == before, "what is fetched is not seen"
    response = send(as_anna, beside, "show", "0.0")
    assert (response.status_code, response.json()) == (200, {"version": 1, "to_do": 1, "shown": "partial"})
    assert stands(beside) == {"shown": {"0.0": "partial"}, "waiting": ["1.0"], "to_do": 1}
    revision = LabelEvent.objects.get(sheet=beside)
    assert (revision.verb, revision.changes_by_item) == ("show", {"0.0": {"shown": [None, "partial"]}})
    exposure = Exposure.objects.get()
    assert (exposure.person, exposure.topic, exposure.kind) == (anna, beside.task.topic, "support")
    assert exposure.where == "labels of Mia's"


def test_sent_twice_it_is_shown_once_and_of_a_topic_one_exposure_tells(beside: SupportSheet, as_anna: Client):
    key = uuid4()
    responses = [send(as_anna, beside, "show", "0.0", key=key, version=0) for _ in range(2)]
    assert [response.json()["shown"] for response in responses] == ["partial", "partial"]
    assert LabelEvent.objects.filter(sheet=beside).count() == 1
    assert send(as_anna, sheet_of(beside.task, "team.two"), "show", "0.0").json()["shown"] == "none"
    assert Exposure.objects.count() == 1


def test_a_show_on_an_old_version_tells_nothing(beside: SupportSheet, as_anna: Client):
    send(as_anna, beside, "flag", "0.0", note="odd")
    before = everything()
    response = send(as_anna, beside, "show", "0.0", version=0)
    assert response.status_code == 409
    assert response.json()["said"]["shown"] == {}
    assert everything() == before


@pytest.mark.parametrize("verb", ["label", "cannot"])
def test_nothing_is_judged_before_the_label_was_shown(beside: SupportSheet, as_anna: Client, verb: str):
    before = everything()
    response = send(as_anna, beside, verb, "0.0", **WRITES["support"][verb])
    assert response.status_code == 400
    assert response.content.decode() == "The model's label goes with this citation and has not been shown."
    assert everything() == before
    send(as_anna, beside, "show", "0.0")
    assert send(as_anna, beside, verb, "0.0", **WRITES["support"][verb]).status_code == 200


@pytest.mark.parametrize("verb", ["label", "cannot", "flag", "show"])
def test_what_waits_for_the_model_can_not_be_opened(beside: SupportSheet, as_anna: Client, verb: str):
    before = everything()
    response = send(as_anna, beside, verb, "1.0", **WRITES["support"][verb])
    assert response.status_code == 410
    assert response.content.decode() == "This citation can't be opened yet: the model has not judged it."
    assert everything() == before


def test_a_label_that_is_gone_is_not_shown(beside: SupportSheet, edited: Condition, as_anna: Client):
    for labels in ({"0.0": "not judged"}, {}):
        put(SupportSheet.objects.filter(condition=edited.shown), labels=labels)
        response = send(as_anna, beside, "show", "0.0")
        assert (response.status_code, response.content) == (400, b"The model has not judged this citation.")
    assert not Exposure.objects.exists()


def test_another_answers_label_is_not_shown(beside: SupportSheet, edited: Condition, as_anna: Client):
    two = sheet_of(beside.task, "team.two")
    assert [send(as_anna, sheet, "show", "0.0").json()["shown"] for sheet in (two, beside)] == ["none", "partial"]


def test_both_labels_and_whether_they_differ_are_in_the_table(beside: SupportSheet, edited, olga, as_anna: Client):
    two = sheet_of(beside.task, "team.two")
    for sheet in (beside, two):
        send(as_anna, sheet, "show", "0.0")
    send(as_anna, beside, "label", "0.0", label="full", seconds=7)
    send(as_anna, beside, "label", "0.0", label="partial", seconds=2)
    send(as_anna, beside, "flag", "0.0", note="=odd")
    send(as_anna, two, "cannot", "0.0", reason="=garbled", seconds=1)
    send(as_anna, two, "label", "0.0", label="")
    rows = list(csv.DictReader(judgment_lines(edited)))
    kept = (
        "topic",
        "run",
        "sentence",
        "citation",
        "docid",
        "judge",
        "label",
        "shown",
        "differs",
        "reason",
        "taken_back",
    )
    assert [tuple(row[name] for name in (*kept, "seconds")) for row in rows] == [
        ("t1", "team.one", "0", "0", "d1", "anna", "full", "partial", "yes", "", "no", "7"),
        ("t1", "team.one", "0", "0", "d1", "anna", "partial", "partial", "no", "", "no", "2"),
        ("t1", "team.two", "0", "0", "d2", "anna", "", "none", "", "'=garbled", "no", "1"),
        ("t1", "team.two", "0", "0", "d2", "anna", "", "none", "", "", "yes", ""),
    ]
    address = "/campaigns/study/exports/support_judgments/file/"
    response = client_of(olga).get(address, {"of": edited.name, "form": "csv"})
    assert b"".join(response.streaming_content).decode() == "".join(judgment_lines(edited))
    page = unescape(client_of(olga).get("/campaigns/study/exports/").content.decode())
    assert f"{address}?{urlencode({'of': edited.name, 'form': 'csv'})}" in page
    assert f"{address}?{urlencode({'of': edited.shown.name, 'form': 'csv'})}" not in page, "a model was shown nothing"


def test_an_organizer_looks_at_what_was_said(beside: SupportSheet, olga: Person, as_anna: Client):
    send(as_anna, beside, "show", "0.0")
    send(as_anna, beside, "label", "0.0", label="full", seconds=7)
    send(as_anna, beside, "flag", "0.0", note="<i>look")
    text = " ".join(client_of(olga).get(f"/support/{beside.task_id}/").content.decode().split())
    assert "Read-only view of what anna said under support post-edited beside the labels of Mia&#x27;s, open" in text
    for shown in (
        "1 of 2 citations of the topic are done.",
        "1 answer cites nothing.",
        "team.one <span",
        "1 sentence without citations",
        "0 to do, 7 active seconds",
        "<td>partial</td><td>yes</td>",
        "<bdi>&lt;i&gt;look",
        "<td>7</td>",
        "waits for the model&#x27;s label",
        "its text is not loaded",
    ):
        assert shown in text, shown
    assert Exposure.objects.count() == 1


# The page


def test_the_page_has_what_is_to_be_judged(task: Task, sheet: SupportSheet, as_anna: Client):
    page = as_anna.get(f"/support/{task.pk}/")
    text = page.content.decode()
    assert {row[0]: row[2:] for row in queue(page)} == {
        sheet.pk: [2, 2, 0, 0, 0],
        sheet_of(task, "team.two").pk: [1, 1, 0, 0, 0],
    }
    assert answers(page) == [row[0] for row in queue(page)]
    assert "2 sentences without citations (each none by rule)" in text
    assert "1 citation whose text is not loaded (can't be judged)" in text
    assert "The model says" not in text
    fragment = as_anna.get(url(sheet)).content.decode()
    assert fragment.count("<li") == 3
    assert '<li data-sentence="0" data-citations="0.0">' in fragment
    assert "cites nothing: none by rule" in fragment
    assert fragment.count('class="passage"') == 2
    assert "Cats purr when content. Some purr when in pain." in fragment
    assert "Nobody knows why." in fragment
    assert "the cited text is not loaded" in as_anna.get(url(sheet_of(task, "team.two"))).content.decode()


def test_the_answers_at_hand_are_those_that_come_next(campaign, import_file, topic, anna, as_anna: Client):
    for number in range(7):
        import_file(campaign, "runs", run_file(f"r{number}", {"t1": [("One.", ["d1"])]}), name=f"r{number}")
    task = give(from_scratch(campaign), topic, anna)
    page = f"/support/{task.pk}/"
    keys = [row[0] for row in queue(as_anna.get(page))]
    assert answers(as_anna.get(page)) == keys[:4]
    assert answers(as_anna.get(f"{page}?answer={keys[5]}")) == [keys[5], keys[6], keys[0], keys[1]]
    for key in (keys[1], keys[5]):
        assert send(as_anna, SupportSheet.objects.get(pk=key), "label", "0.0", label="full").status_code == 200
    assert answers(as_anna.get(page)) == [keys[0], keys[2], keys[3], keys[4]]
    assert answers(as_anna.get(f"{page}?answer={keys[5]}")) == [keys[5], keys[6], keys[0], keys[2]]


def test_a_passage_that_is_cited_twice_stands_once(campaign, import_file, topic, anna, as_anna: Client):
    lines = run_file("r", {"t1": [("One.", ["d1"]), ("Two.", ["d1"]), ("Three.", ["d2"])]})
    import_file(campaign, "runs", lines)
    task = give(from_scratch(campaign), topic, anna)
    fragment = as_anna.get(url(sheet_of(task, "r"))).content.decode()
    assert 'data-citations="0.0 1.0" data-docid="d1" tabindex' in fragment
    assert fragment.count('class="passage"') == 2


def test_texts_are_escaped(campaign, import_file, topic, anna, as_anna: Client):
    evil = "<script>alert(1)</script>"
    import_file(campaign, "segments", [{"docid": "e1", "title": evil, "headings": evil, "segment": evil}])
    import_file(campaign, "runs", run_file("r", {"t1": [(evil, ["e1"])]}))
    task = give(from_scratch(campaign), topic, anna)
    text = as_anna.get(f"/support/{task.pk}/").content.decode()
    assert evil not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4


def test_a_topic_of_which_nothing_can_be_judged_can_be_signed_off(campaign, import_file, topic, anna, as_anna: Client):
    import_file(campaign, "runs", run_file("team.silent", {"t1": RUNS["team.silent"]["t1"]}))
    task = give(from_scratch(campaign), topic, anna)
    assert counters(task) == ("open", 0, 0)
    page = as_anna.get(f"/support/{task.pk}/")
    assert queue(page) == []
    assert "None of the citations of this topic can be judged." in page.content.decode()
    assert sign_off(as_anna, task, version=0).status_code == 200


def test_home_tells_how_far_it_is(task: Task, sheet: SupportSheet, as_anna: Client):
    send(as_anna, sheet, "label", "0.0", label="full")
    text = " ".join(as_anna.get("/").content.decode().split())
    assert f'href="/support/{task.pk}/"' in text
    assert "citations" in text
    assert "1/3" in text or "1 of 3" in text


def test_what_is_said_of_another_citation_than_stands_there_is_not_saved(as_anna: Client, sheet: SupportSheet):
    """A run file put another citation in its place since it was on screen."""
    for verb in WRITES["support"]:
        if verb not in ("show", "later"):
            response = send(as_anna, sheet, verb, "0.0", **(WRITES["support"][verb] | {"docid": "d9"}))
            assert (response.status_code, response.content.decode()) == (
                410,
                "The answer got further citations meanwhile: nothing was saved, and it is shown anew.",
            ), verb
    assert not sheet.revisions.exists()
