"""What the editor reads: passages, rows, findings; and that it asks no more of a long list than of a short one."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign, judge_of
from assessor.campaigns.models import Campaign, Protocol, Topic
from assessor.work.actions import give_tasks
from nuggets import actions
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from nuggets.queries import next_redo, nuggets_in_order, passages, rows
from tests.conftest import client_of
from tests.nuggets.conftest import NEW, WRITES, A, B, C, do, fill, send, url


def found(bank: NuggetBank) -> tuple[list[tuple[str, int]], int]:
    loaded, without_text = passages(NuggetBank.objects.get(pk=bank.pk))
    return [(passage.segment.docid, passage.grade) for passage in loaded], without_text


def test_passages_are_relevant_ones_by_grade(bank: NuggetBank):
    """d3 has grade 0, d4 no text, d5 is another topic's."""
    assert found(bank) == ([("d1", 3), ("d2", 1)], 1)


def test_passages_of_one_grade_come_by_docid_in_byte_order(
    campaign: Campaign, import_file, anna: Person, olga: Person, topic: Topic
):
    docids = ["a#10", "a#2", "B#1", "é", "a#1"]
    import_file(campaign, "segments", [{"docid": docid, "segment": "text"} for docid in docids])
    grades = "".join(f"t1 0 {docid} 2\n" for docid in docids)
    import_file(campaign, "qrels", grades + "t1 0 d2 3\nt1 0 d1 1\n", source="Again", by="people")
    source = campaign.qrels_sources.get(name="Again")
    condition = create_manual_nuggets(campaign=campaign, name="Again", qrels_source=source, acting_user=olga)
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    expected = [("d2", 3), ("B#1", 2), ("a#1", 2), ("a#10", 2), ("a#2", 2), ("é", 2), ("d1", 1)]
    assert found(NuggetBank.objects.get(task=task)) == (expected, 0)


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (1, ([("d1", 3), ("d2", 1)], 1)),
        (2, ([("d1", 3)], 1)),
        (3, ([("d1", 3)], 0)),
        (4, ([], 0)),
    ],
)
def test_the_protocol_says_what_is_relevant(bank: NuggetBank, least: int, expected: object):
    Protocol.objects.update(min_relevant_grade=least)
    assert found(bank) == expected


def test_the_text_of_another_campaign_is_not_shown(bank: NuggetBank, olga: Person, import_file):
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    import_file(other, "segments", [{"docid": "d4", "segment": "text"}])
    assert found(bank) == ([("d1", 3), ("d2", 1)], 1)
    import_file(bank.condition.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    assert found(bank) == ([("d1", 3), ("d4", 2), ("d2", 1)], 0)


def test_the_page_says_how_many_have_no_text(bank: NuggetBank, as_anna: Client, import_file):
    note = "The text of 1 more relevant passage is not loaded."
    assert note in as_anna.get(url(bank, "editor")).content.decode()
    import_file(bank.condition.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    assert "is not loaded" not in as_anna.get(url(bank, "editor")).content.decode()


def test_rows_count_words_and_point_to_the_first_of_equal_texts(bank: NuggetBank):
    texts = ["Cats purr", "dogs bark", "cats,  PURR.", "Straße", "STRASSE", "cats purr loudly", "…", "—"]
    fill(bank, *((UUID(int=number), text, "") for number, text in enumerate(texts)))
    assert [(row.place, row.words, row.same_as) for row in rows(nuggets_in_order(bank), {})] == [
        (1, 2, 0),
        (2, 2, 0),
        (3, 2, 1),
        (4, 1, 0),
        (5, 1, 4),
        (6, 3, 0),
        (7, 1, 0),
        (8, 1, 0),
    ]


def test_redo_follows_the_newest_branch(bank: NuggetBank):
    def again() -> str | None:
        edit = next_redo(NuggetBank.objects.get(pk=bank.pk))
        return edit and f"{edit.verb} {edit.version}"

    fill(bank, (A, "a", ""), (B, "b", ""))
    assert again() is None
    do(bank, actions.undo)
    assert again() == "add 2"
    do(bank, actions.undo)
    assert again() == "add 1"
    fill(bank, (C, "c", ""))
    assert again() is None
    do(bank, actions.undo)
    assert again() == "add 5"


Sizes = tuple[NuggetBank, NuggetBank]


@pytest.fixture
def two_sizes(campaign: Campaign, import_file, anna: Person, olga: Person) -> Sizes:
    """Anna's banks with 2 nuggets and 2 passages, and with 40 of each, and of places in each nugget's evidence.

    In both, the last edit can be undone and one more redone, and nothing keeps them from being finished.
    """
    import_file(campaign, "segments", [{"docid": f"x{number}", "segment": "text"} for number in range(40)])
    grades = [f"t1 0 x{number} 1\n" for number in range(2)] + [f"t2 0 x{number} 1\n" for number in range(40)]
    import_file(campaign, "qrels", "".join(grades), source="Sized", by="people")
    Protocol.objects.update(max_nuggets=100)
    source = campaign.qrels_sources.get(name="Sized")
    condition = create_manual_nuggets(campaign=campaign, name="Sized", qrels_source=source, acting_user=olga)
    topics = list(Topic.objects.filter(campaign=campaign).order_by("qid"))
    tasks = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=olga)
    small, large = (NuggetBank.objects.get(task=task) for task in tasks)
    for bank, size in ((small, 2), (large, 40)):
        fill(bank, *((uid, "text", "vital") for uid in (A, B, *(uuid4() for _ in range(size - 2)))), (C, "c", ""))
        do(bank, actions.undo)
        evidence = [{"docid": f"x{number}", "start": None, "end": None} for number in range(size)]
        bank.nuggets.update(evidence=evidence, note="note")
        bank.nuggets.exclude(uid=C).update(parents=[str(C)])
        NuggetBank.objects.filter(pk=bank.pk).update(read_passages=[f"x{number}" for number in range(1, size)])
        assert (len(found(bank)[0]), len(bank.order)) == (size, size)
    return small, large


def counts(banks: Sizes, ask: Callable[[NuggetBank], HttpResponse], status: int = 200) -> set[int]:
    """Ask the same of both, and return how many queries that took."""
    asked = set()
    for bank in banks:
        with CaptureQueriesContext(connection) as queries:
            assert ask(bank).status_code == status
        asked.add(len(queries))
    return asked


@pytest.mark.parametrize("state", ["open", "finished", "reopened"])
@pytest.mark.parametrize("who", ["anna", "olga"])
def test_the_page_asks_no_more_of_a_long_list(two_sizes: Sizes, who: str, state: str, olga: Person, request):
    for bank in two_sizes:
        do(bank, actions.merge_nuggets, uids=[A, B], uid=NEW, text="m")
        do(bank, actions.set_importance, uid=NEW, importance="vital")
        if state != "open":
            do(bank, actions.finish_bank)
        if state == "reopened":
            actions.reopen_bank(bank, reason="again", acting_user=olga)
    client = client_of(request.getfixturevalue(who))
    assert len(counts(two_sizes, lambda bank: client.get(url(bank, "editor")))) == 1


@pytest.mark.parametrize("verb", WRITES)
def test_a_write_asks_no_more_of_a_long_list(two_sizes: Sizes, as_anna: Client, verb: str):
    docids = {"d1": "x0", "d2": "x1"}
    fields = {name: docids.get(value, value) for name, value in WRITES[verb].items()}
    assert len(counts(two_sizes, lambda bank: send(as_anna, bank, verb, **fields))) == 1
    assert [NuggetBank.objects.get(pk=bank.pk).version - bank.version for bank in two_sizes] == [1, 1]


def test_finishing_again_asks_no_more_of_a_long_list(two_sizes: Sizes, as_anna: Client, olga: Person):
    for bank in two_sizes:
        do(bank, actions.finish_bank)
    client = client_of(olga)
    judge_of(olga)  # made the first time that it is asked for
    assert len(counts(two_sizes, lambda bank: client.post(url(bank, "reopen"), {"reason": "again"}), 302)) == 1
    for bank in two_sizes:
        bank.refresh_from_db()
        for uid in bank.nuggets.values_list("uid", flat=True)[: len(bank.order)]:
            do(bank, actions.reword_nugget, uid=uid, text="other")
    assert len(counts(two_sizes, lambda bank: send(as_anna, bank, "finish"))) == 1
    assert [len(bank.editions.last().consequences["stale"]) for bank in two_sizes] == [2, 40]


def test_merging_many_asks_as_much_as_merging_two(two_sizes: Sizes, as_anna: Client):
    def merge(bank: NuggetBank) -> HttpResponse:
        uids = bank.nuggets.exclude(uid=C).values_list("uid", flat=True)
        return send(as_anna, bank, "merge", uids=" ".join(map(str, uids)), uid=str(NEW), text="m")

    assert len(counts(two_sizes, merge)) == 1
    assert [len(NuggetBank.objects.get(pk=bank.pk).order) for bank in two_sizes] == [1, 1]
