"""What people say of nuggets in answers, beyond what holds for labels of all kinds (tests/labels)."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Topic
from assessor.work.actions import withdraw_task
from assessor.work.models import Task, Write
from assignment.models import AnswerSheet, LabelEvent
from nuggets import actions as nugget_actions
from nuggets.models import Nugget, NuggetBank
from tests.assignment.conftest import A, B, C, sheet_of
from tests.conftest import client_of
from tests.judging import (
    WRITES,
    answers,
    counters,
    everything,
    give,
    label_all,
    nuggets_of,
    put,
    queue,
    said,
    send,
    sign_off,
    stands,
    url,
)
from tests.nuggets.conftest import do

REOPENED = "The nuggets of this topic are being changed. What you said is kept; once they are finished, you go on."


@pytest.fixture
def sheet(task: Task) -> AnswerSheet:
    """Anna's sheet on the answer of team.one: two sentences, three nuggets."""
    return sheet_of(task, "team.one")


@pytest.fixture
def other(task: Task) -> AnswerSheet:
    """Anna's other answer, of team.two."""
    return sheet_of(task, "team.two")


def run_line(tag: str, text: str = "a") -> dict[str, object]:
    return {"run_id": tag, "topic_id": "t1", "references": [], "answer": [{"text": text, "citations": []}]}


def reopen(bank: NuggetBank, olga: Person) -> None:
    nugget_actions.reopen_bank(bank, reason="one is unclear", acting_user=olga)


def finish(bank: NuggetBank) -> None:
    do(bank, nugget_actions.finish_bank)


# Marks


def test_marks_stand_beside_a_label_and_go_again(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    nugget = str(nugget_ids[B])
    send(as_anna, sheet, "mark", nugget_ids[B], marks="[[1, 10, 14], [0, 0, 18]]")
    assert stands(sheet) == {"marks": {nugget: [[1, 10, 14], [0, 0, 18]]}, "to_do": 3}
    send(as_anna, sheet, "label", nugget_ids[B], label="support")
    assert stands(sheet)["marks"] == {nugget: [[1, 10, 14], [0, 0, 18]]}
    send(as_anna, sheet, "mark", nugget_ids[B], marks="[]")
    assert stands(sheet) == {"labels": {nugget: "support"}, "to_do": 2}
    assert list(LabelEvent.objects.values_list("verb", "edition")) == [("mark", 1), ("label", 1), ("mark", 1)]


# What is refused


NO_MARKS = "Marks are places inside sentences of the answer: [[sentence, start, end], ...]."


@pytest.mark.parametrize(
    ("verb", "fields", "message"),
    [
        ("label", {"label": "support", "nugget": "x"}, "nugget must be a whole number, from 0."),
        ("label", {"label": "support", "nugget": "999"}, "There is no such nugget to be labelled here."),
        ("mark", {}, "marks must be JSON."),
        ("mark", {"marks": "[[0, 0"}, "marks must be JSON."),
        ("mark", {"marks": "[" * 100_000}, "marks must be JSON."),
        ("mark", {"marks": '{"0": 1}'}, NO_MARKS),
        ("mark", {"marks": "[[0, 0]]"}, NO_MARKS),
        ("mark", {"marks": "[[0, 0, 19]]"}, NO_MARKS),
        ("mark", {"marks": "[[2, 0, 4]]"}, NO_MARKS),
        ("mark", {"marks": "[[-1, 0, 4]]"}, NO_MARKS),
        ("mark", {"marks": "[[0, -1, 4]]"}, NO_MARKS),
        ("mark", {"marks": "[[0, 4, 4]]"}, NO_MARKS),
        ("mark", {"marks": "[[0, false, 4]]"}, NO_MARKS),
        ("mark", {"marks": "[[0, 0, 1.5]]"}, NO_MARKS),
        ("mark", {"marks": str([[0, 0, 4]] * 101)}, NO_MARKS),
    ],
)
def test_an_impossible_nugget_or_mark_changes_nothing(
    sheet, nugget_ids, as_anna: Client, verb: str, fields, message: str
):
    before = everything()
    response = send(as_anna, sheet, verb, **{"nugget": nugget_ids[A]} | fields)
    assert (response.status_code, response.content.decode()) == (400, message)
    assert (response["Content-Type"], response["X-Assay-Write"]) == ("text/plain", "1")
    assert everything() == before


def test_an_empty_answer_is_decided_by_rule_and_nobodys(task: Task, nugget_ids, as_anna: Client):
    empty = sheet_of(task, "team.empty")
    before = everything()
    assert send(as_anna, empty, "label", nugget_ids[A], label="support").status_code == 404
    assert as_anna.get(url(empty)).status_code == 404
    assert everything() == before
    page = as_anna.get(f"/assign/{task.pk}/")
    assert empty.pk not in [row[0] for row in queue(page)]
    assert "1 empty answer is not_support by rule and not asked." in page.content.decode()


def test_only_what_is_asked_can_be_labelled(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    put([sheet], asked=[nugget_ids[B]], to_do=1)
    assert said(as_anna.get(url(sheet)))[0]["asked"] == [nugget_ids[B]]
    before = everything()
    response = send(as_anna, sheet, "label", nugget_ids[A], label="support")
    assert (response.status_code, b"not asked of this answer" in response.content) == (410, True)
    assert everything() == before
    assert send(as_anna, sheet, "label", nugget_ids[B], label="support").json()["to_do"] == 0


# Whose it is


def test_an_answer_that_somebody_else_has_now_is_told_apart(
    manual, topic: Topic, task, sheet, other, nugget_ids, anna, ben, olga, as_anna: Client
):
    """Anna's topic goes to Ben, who does one of its answers, and comes back to her without that one."""
    withdraw_task(task=task, acting_user=olga)
    bens = give(manual, topic, ben, reason="ill")
    label_all(client_of(ben), AnswerSheet.objects.get(pk=sheet.pk))
    withdraw_task(task=bens, acting_user=olga)
    assert give(manual, topic, anna).pk == task.pk
    nugget = nugget_ids[A]
    response = send(as_anna, sheet, "label", nugget, label="support", task=task.pk)
    assert (response.status_code, response["X-Assay-Write"]) == (404, "1")
    text = "This answer is not, or no longer, among those that you have to label here."
    assert response.content.decode() == text
    assert send(as_anna, AnswerSheet(pk=10**9), "label", nugget, version=0, task=task.pk, label="support").content == (
        text.encode()
    ), "whether there is such an answer is not told"
    assert send(as_anna, other, "label", nugget, label="support").status_code == 200


# When nuggets change


@pytest.fixture
def labelled(sheet: AnswerSheet, nugget_ids, as_anna: Client) -> AnswerSheet:
    """The first answer with a label of each kind, a flag and marks."""
    for uid, label in ((A, "support"), (B, "partial_support"), (C, "not_support")):
        send(as_anna, sheet, "label", nugget_ids[uid], label=label)
    send(as_anna, sheet, "flag", nugget_ids[A], note="look")
    send(as_anna, sheet, "mark", nugget_ids[A], marks="[[0, 0, 4]]")
    return sheet


def test_while_nuggets_are_changed_nothing_can_be_said_and_all_is_kept(
    task, labelled: AnswerSheet, finished: NuggetBank, nugget_ids, olga: Person, as_anna: Client
):
    reopen(finished, olga)
    before = everything()
    for verb, fields in WRITES["assignment"].items():
        if verb == "show":
            continue  # from scratch there is none
        response = send(as_anna, labelled, verb, None if verb == "later" else nugget_ids[A], **fields)
        assert (response.status_code, response.json()["closed"]) == (409, REOPENED)
    assert sign_off(as_anna, task).json() == {"closed": REOPENED}
    assert everything() == before
    page = as_anna.get(f"/assign/{task.pk}/").content.decode()
    assert f'data-closed="{REOPENED}"' in page
    assert f'<a href="/nuggets/{finished.pk}/">Go on with the nuggets</a>' in page
    assert "purring heals" in page, "as they were when they were finished last"


def test_labels_on_another_text_come_back_and_are_given_anew(
    task, labelled: AnswerSheet, finished: NuggetBank, nugget_ids, olga: Person, as_anna: Client
):
    assert counters(task) == ("open", 2, 3)
    reopen(finished, olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="purring heals the bones of cats")
    do(finished, nugget_actions.delete_nugget, uid=C)
    do(finished, nugget_actions.set_importance, uid=B, importance="okay")
    stale_write = {"version": AnswerSheet.objects.get(pk=labelled.pk).version, "label": "support"}
    finish(finished)
    assert counters(task) == ("open", 1, 3)
    a, b = (str(nugget_ids[uid]) for uid in (A, B))
    assert stands(labelled) == {
        "labels": {b: "partial_support"},
        "stale": {a: "support"},
        "flags": {a: "look"},
        "to_do": 1,
    }
    response = as_anna.get(url(labelled))
    text = response.content.decode()
    assert 'data-edition="2"' in text
    pieces = '[["both", "purring heals"], ["new", "the bones of cats"]]'.replace('"', "&quot;")
    assert f'data-older="{{&quot;{a}&quot;: {pieces}}}"' in text
    # Said on the older nuggets: refused, with what stands.
    refused = send(as_anna, labelled, "label", nugget_ids[A], **stale_write)
    assert (refused.status_code, refused.json()["edition"]) == (409, 2)
    gone = send(as_anna, labelled, "label", nugget_ids[C], label="support")
    assert (gone.status_code, gone.content.decode()) == (
        410,
        "This nugget is not in the bank any more, or not asked of this answer.",
    )
    assert send(as_anna, labelled, "label", nugget_ids[A], label="not_support").json()["to_do"] == 0
    assert stands(labelled) == {"labels": {b: "partial_support", a: "not_support"}, "flags": {a: "look"}, "to_do": 0}
    assert counters(task) == ("open", 2, 3)
    assert LabelEvent.objects.latest("pk").changes_by_item == {
        a: {"label": [None, "not_support"], "stale": ["support", None]}
    }


def test_the_older_text_is_the_one_that_was_labelled(task, labelled, finished, nugget_ids, olga, as_anna: Client):
    for text in ("purring heals bones", "purring heals broken bones"):
        reopen(finished, olga)
        do(finished, nugget_actions.reword_nugget, uid=A, text=text)
        finish(finished)
    text = as_anna.get(url(labelled)).content.decode()
    assert "[&quot;both&quot;, &quot;purring heals&quot;], [&quot;new&quot;, &quot;broken bones&quot;]" in text


def test_a_reason_takes_the_older_label_away_and_taking_it_back_brings_none(
    labelled, finished, nugget_ids, olga, as_anna: Client
):
    reopen(finished, olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="other")
    finish(finished)
    a = str(nugget_ids[A])
    send(as_anna, labelled, "label", nugget_ids[A], label="")
    assert stands(labelled)["stale"] == {a: "support"}
    send(as_anna, labelled, "cannot", nugget_ids[A], reason="unclear")
    assert "stale" not in stands(labelled)


# The page


def test_the_page_opens_at_the_first_answer_that_is_to_be_done(task, sheet, other, as_anna: Client):
    page = as_anna.get(f"/assign/{task.pk}/")
    first, second = answers(page)
    assert (first, second) == tuple(row[0] for row in queue(page))
    label_all(as_anna, AnswerSheet.objects.get(pk=first))
    assert answers(as_anna.get(f"/assign/{task.pk}/")) == [second]
    assert answers(as_anna.get(f"/assign/{task.pk}/?answer={first}")) == [first, second]
    assert answers(as_anna.get(f"/assign/{task.pk}/?answer=999")) == [second]
    label_all(as_anna, AnswerSheet.objects.get(pk=second))
    assert answers(as_anna.get(f"/assign/{task.pk}/")) == [first, second]


def test_answers_come_in_the_seeded_order_and_five_with_the_page(manual, topic, anna, as_anna, import_file):
    for number in range(9):
        import_file(manual.campaign, "runs", [run_line(f"more{number}")], name=f"more{number}")
    task = give(manual, topic, anna)
    page = as_anna.get(f"/assign/{task.pk}/")
    in_order = AnswerSheet.objects.filter(task=task, by_rule=False).order_by("place").values_list("pk", flat=True)
    assert [row[0] for row in queue(page)] == list(in_order)
    assert answers(page) == list(in_order)[:5]
    assert [row[1] for row in queue(page)] == list(range(1, 12))


def test_the_maker_sees_their_notes_and_nobody_else(
    manual, topic, task, finished: NuggetBank, ben: Person, olga: Person, as_anna: Client
):
    Nugget.objects.filter(bank=finished, uid=A).update(note="mind the bones")
    NuggetBank.objects.filter(pk=finished.pk).update(reading="why, not how")
    page = as_anna.get(f"/assign/{task.pk}/").content.decode()
    assert "How you read the topic: why, not how" in page
    assert "Your note: mind the bones" in page
    withdraw_task(task=task, acting_user=olga)
    bens = give(manual, topic, ben, reason="anna is ill")
    page = client_of(ben).get(f"/assign/{bens.pk}/").content.decode()
    assert "purring heals" in page
    for hidden in ("why, not how", "mind the bones"):
        assert hidden not in page


def test_texts_are_shown_as_text(manual, topic, anna, as_anna, import_file, finished):
    nasty = '<script>alert(1)</script> "quoted" \u2028'
    import_file(manual.campaign, "runs", [run_line("nasty", nasty)], name="nasty")
    task = give(manual, topic, anna)
    sheet = sheet_of(task, "nasty")
    nugget = nuggets_of(finished)[0]
    send(as_anna, sheet, "flag", nugget, note='"><img src=x onerror=alert(2)>')
    send(as_anna, sheet, "cannot", nugget, reason="<i>x")
    for address in (f"/assign/{task.pk}/", url(sheet), f"/assign/{task.pk}/nuggets/{nugget}/"):
        text = as_anna.get(address).content.decode()
        assert "&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot;" in text
        for raw in ("<script>alert", "<img", "<i>x"):
            assert raw not in text, address


def test_citations_show_where_the_protocol_says_so(task, sheet: AnswerSheet, as_anna: Client):
    assert ">d1<" not in as_anna.get(url(sheet)).content.decode()
    protocol = task.condition.protocol
    protocol.show_citations = True
    protocol.save()
    assert as_anna.get(url(sheet)).content.decode().count('<p class="quiet any">d1</p>') == 2


def test_one_nugget_across_the_answers_labelled_so_far(task, sheet, other, nugget_ids, as_anna: Client):
    address = f"/assign/{task.pk}/nuggets/{nugget_ids[A]}/"
    assert "You have said nothing of it in any answer yet." in as_anna.get(address).content.decode()
    send(as_anna, sheet, "label", nugget_ids[A], label="partial_support")
    send(as_anna, sheet, "mark", nugget_ids[A], marks="[[1, 5, 14]]")
    send(as_anna, other, "label", nugget_ids[B], label="support")
    text = " ".join(as_anna.get(address).content.decode().split())
    assert "purring heals" in text
    assert f'?answer={sheet.pk}" data-sheet="{sheet.pk}" data-item="{nugget_ids[A]}"' in text
    assert "<strong>partial_support</strong>" in text
    assert '<blockquote class="any" dir="auto">also purr</blockquote>' in text
    assert "Dogs bark" not in text
    send(as_anna, other, "cannot", nugget_ids[A], reason="garbled")
    text = as_anna.get(address).content.decode()
    assert "can't judge: <bdi>garbled</bdi>" in text
    assert "Dogs bark" in text
    assert as_anna.get(f"/assign/{task.pk}/nuggets/999/").status_code == 404


# What it costs


def test_the_key_of_a_label_is_kept_without_a_result(sheet: AnswerSheet, nugget_ids, as_anna: Client):
    send(as_anna, sheet, "label", nugget_ids[A], label="support")
    assert Write.objects.latest("pk").result is None


def test_the_page_asks_no_more_of_more_answers(manual, topic, anna, as_anna: Client, import_file, olga: Person):
    def queries(runs: range) -> tuple[int, int, int]:
        for number in runs:
            import_file(manual.campaign, "runs", [run_line(f"x{number}")], name=f"x{number}")
        task = give(manual, topic, anna)
        nugget = nuggets_of(AnswerSheet.objects.filter(task=task)[0].bank)[0]
        for sheet in AnswerSheet.objects.filter(task=task, by_rule=False, version=0)[: len(runs) // 2]:
            send(as_anna, sheet, "label", nugget, label="support")
            counted = []
        for client, address in (
            (as_anna, f"/assign/{task.pk}/"),
            (as_anna, f"/assign/{task.pk}/nuggets/{nugget}/"),
            (client_of(olga), f"/assign/{task.pk}/"),
        ):
            with CaptureQueriesContext(connection) as asked:
                assert client.get(address).status_code == 200
            counted.append(len(asked))
        return tuple(counted)

    few = queries(range(4))
    assert queries(range(4, 30)) == few
    assert max(few[:2]) <= 16
    assert few[2] <= 24, "an organizer's page has the sidebar, too"
