"""What the editor reads: passages, rows, findings; and that it asks no more of a long list than of a short one."""

from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.collection.actions import create_campaign, create_manual_nuggets
from assessor.collection.models import Campaign, Person, Protocol, Topic
from assessor.work.actions import give_tasks
from nuggets import actions
from nuggets.models import NuggetBank
from nuggets.queries import next_redo, nuggets_in_order, passages, rows
from tests.nuggets.conftest import A, B, C, do, fill, send, url


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


@pytest.fixture
def two_sizes(campaign: Campaign, import_file, anna: Person, olga: Person) -> tuple[NuggetBank, NuggetBank]:
    """Anna's banks with 2 nuggets and 2 passages, and with 40 of each."""
    import_file(campaign, "segments", [{"docid": f"x{number}", "segment": "text"} for number in range(40)])
    grades = [f"t1 0 x{number} 1\n" for number in range(2)] + [f"t2 0 x{number} 1\n" for number in range(40)]
    import_file(campaign, "qrels", "".join(grades), source="Sized", by="people")
    source = campaign.qrels_sources.get(name="Sized")
    condition = create_manual_nuggets(campaign=campaign, name="Sized", qrels_source=source, acting_user=olga)
    topics = list(Topic.objects.filter(campaign=campaign).order_by("qid"))
    tasks = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=olga)
    small, large = (NuggetBank.objects.get(task=task) for task in tasks)
    for bank, size in ((small, 2), (large, 40)):
        fill(bank, *((uuid4(), "text", "") for _ in range(size)))
        assert len(found(bank)[0]) == size
    return small, large


def test_the_page_asks_no_more_of_a_long_list(two_sizes: tuple[NuggetBank, NuggetBank], as_anna: Client):
    asked = []
    for bank in two_sizes:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert as_anna.get(url(bank, "editor")).status_code == 200
        asked.append(len(queries))
    assert asked[0] == asked[1]


def test_a_write_asks_no_more_of_a_long_list(two_sizes: tuple[NuggetBank, NuggetBank], as_anna: Client):
    asked = []
    for bank in two_sizes:
        uid = bank.nuggets.get(pk=bank.order[0]).uid
        with CaptureQueriesContext(connection) as queries:
            assert send(as_anna, bank, "move", on=uid, to="1").status_code == 200
        asked.append(len(queries))
    assert asked[0] == asked[1]
