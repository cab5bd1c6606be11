"""What people say of citations, beyond what holds for labels of all kinds (tests/labels)."""

import csv
from html import unescape
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition
from assessor.work.models import Exposure, Task
from assessor.work.write_protocol import Closed
from support.access import own_sheet
from support.actions import give_label
from support.judgments_table import judgment_lines
from support.models import LabelEvent, SupportSheet
from tests.conftest import client_of
from tests.judging import WRITES, answers, counters, everything, give, put, queue, send, sign_off, stands, url
from tests.support.judging_helpers import RUNS, from_scratch, run_file, sheet_of

# What is asked


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


def test_beside_a_models_label_it_asks_hardly_more(beside: SupportSheet, as_anna: Client):
    assert beside.answer
    send(as_anna, sheet_of(beside.task, "team.two"), "show", "0.0")
    asked = []
    for verb in ("show", "label"):
        with CaptureQueriesContext(connection) as queries:
            assert send(as_anna, beside, verb, "0.0", **WRITES["support"][verb], version=len(asked)).status_code == 200
        told = [query["sql"] for query in queries]
        asked.append([one for one in told if not one.startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))])
    # To label it takes no more than from scratch; to show, the model's label and the key's result besides.
    assert [len(told) for told in asked] == [10, 8], asked


# Signing off


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
        "waiting for the model&#x27;s label",
        "its text is not loaded",
    ):
        assert shown in text, shown
    assert Exposure.objects.count() == 1


# The page


def test_the_page_has_what_is_to_be_judged(task: Task, sheet: SupportSheet, as_anna: Client):
    page = as_anna.get(f"/support/{task.pk}/")
    text = page.content.decode()
    assert {row[0]: row[2:] for row in queue(page)} == {
        sheet.pk: [2, 0, 0, 2, 0],
        sheet_of(task, "team.two").pk: [1, 0, 0, 1, 0],
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
