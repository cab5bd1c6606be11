"""Evidence: places in the passages beside the list, counted in characters of their text, and nowhere else."""

import html
import json
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Protocol, Segment
from nuggets import actions
from nuggets.models import NuggetBank
from nuggets.templatetags.exact import exact
from tests.conftest import client_of
from tests.nuggets.conftest import EDITED, NEW, A, B, do, everything, evidence_of, fill, restored, send, shown, url

NO_PASSAGE = "There is no such passage on this topic."
# 4 characters beyond the first plane, a joiner, a combining accent, every kind of line end, markup, entities.
ODD = "\U0001f431\u200d\U0001f5a4 purrs.\r\nTwo\r\r\nthree\n\r <b>&amp;&#13;</b> e\u0301\u2028\U0001d518\U0001f431\r"
LONG = len("Cats purr when content. Some purr when in pain.")


@pytest.fixture
def odd(bank: NuggetBank, import_file) -> NuggetBank:
    """Anna's bank with nugget A, beside a passage whose text has all that may be counted wrongly."""
    import_file(bank.condition.campaign, "segments", [{"docid": "odd", "segment": ODD}])
    import_file(bank.condition.campaign, "qrels", "t1 0 odd 2\n", source="NIST", by="people")
    assert Segment.objects.get(docid="odd").text == ODD
    fill(bank, (A, "a", "vital"))
    return bank


Attach = Callable[..., tuple[int, str]]


@pytest.fixture
def attach(as_anna: Client) -> Attach:
    """Attach a place to nugget A as the browser does; return the status, and the message of a refusal."""

    def do(bank: NuggetBank, docid: str, start: object = None, end: object = None) -> tuple[int, str]:
        fields = {name: str(value) for name, value in (("start", start), ("end", end)) if value is not None}
        response = send(as_anna, bank, "attach", docid=docid, **fields)
        return response.status_code, response.content.decode() if response.status_code == 400 else ""

    return do


# Where a span may be


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (0, LONG), (LONG - 1, LONG), (5, 9), (0, LONG - 1)], ids=lambda number: str(number)
)
def test_a_span_lies_within_the_text(edited: NuggetBank, attach: Attach, start: int, end: int):
    assert attach(edited, "d1", start, end) == (200, "")
    assert evidence_of(edited) == [("d2", None, None), ("d1", start, end)]


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, 0), (5, 5), (5, 4), (LONG, LONG), (0, LONG + 1), (LONG, LONG + 1), (999_999_998, 999_999_999)],
)
def test_a_span_that_is_none_is_refused(edited: NuggetBank, refuses, start: int, end: int):
    message = f"start and end must be characters of the passage, which has {LONG}."
    place = {"docid": "d1", "start": str(start), "end": str(end)}
    refuses(message, "attach", **place)
    refuses(message, "add", uid=str(NEW), text="new", **place)


@pytest.mark.parametrize("wrong", ["-1", "1.0", "x", " 1", "\u0663", "1000000000", "null"])
def test_the_ends_of_a_span_are_whole_numbers(refuses, wrong: str):
    for verb, more in (("attach", {}), ("detach", {}), ("add", {"uid": str(NEW), "text": "new"})):
        refuses("start must be a whole number, from 0.", verb, docid="d1", start=wrong, end="4", **more)
        refuses("end must be a whole number, from 0.", verb, docid="d1", start="0", end=wrong, **more)


@pytest.mark.parametrize("verb", ["attach", "detach"])
def test_a_span_has_both_ends_or_neither(edited: NuggetBank, as_anna: Client, refuses, verb: str):
    refuses("end must be a whole number, from 0.", verb, docid="d2", start="0")
    refuses("start must be a whole number, from 0.", verb, docid="d2", end="4")
    assert send(as_anna, edited, verb, docid="d2", start="", end="").status_code == 200
    assert evidence_of(edited) == ([("d2", None, None)] if verb == "attach" else [])


def test_characters_are_code_points(odd: NuggetBank, attach: Attach):
    """Neither UTF-16 units, of which the text has more, nor what a browser makes of line ends, which is less."""
    assert len(ODD) < len(ODD.encode("utf-16-le")) // 2
    assert len(ODD) > len("\n".join(ODD.splitlines()))
    assert attach(odd, "odd", 0, len(ODD)) == (200, "")
    assert attach(odd, "odd", len(ODD) - 1, len(ODD)) == (200, "")
    assert attach(odd, "odd", 0, len(ODD) + 1) == (
        400,
        f"start and end must be characters of the passage, which has {len(ODD)}.",
    )
    assert evidence_of(odd) == [("odd", 0, len(ODD)), ("odd", len(ODD) - 1, len(ODD))]
    [docid, start, end] = evidence_of(odd)[1]
    assert Segment.objects.get(docid=docid).text[start:end] == "\r"


# Which passages there are


@pytest.mark.parametrize("verb", ["attach", "add", "read"])
@pytest.mark.parametrize(
    "docid", ["d3", "d4", "d5", "nowhere", "D1", "d1 ", "other-source", "other-campaign", "\U0001f431", "d" * 300]
)
def test_only_passages_beside_the_list_are_evidence(
    edited: NuggetBank, olga: Person, import_file, refuses, verb: str, docid: str
):
    """d3 is not relevant, d4 has no text, d5 is another topic's."""
    campaign = edited.condition.campaign
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    import_file(campaign, "segments", [{"docid": "other-source", "segment": "text"}])
    import_file(campaign, "qrels", "t1 0 other-source 3\nt1 0 d3 3\n", source="Model", by="model")
    import_file(other, "topics", "t1\twhy do cats purr\n")
    import_file(other, "segments", [{"docid": "other-campaign", "segment": "text"}, {"docid": "d4", "segment": "text"}])
    import_file(other, "qrels", "t1 0 other-campaign 3\n", source="NIST", by="people")
    fields = {"add": {"uid": str(NEW), "text": "new"}, "read": {"read": "1"}}.get(verb, {})
    refuses(NO_PASSAGE, verb, docid=docid, **fields)
    if verb != "read":
        refuses(NO_PASSAGE, verb, docid=docid, start="0", end="1", **fields)


def test_no_passage_is_none(refuses):
    refuses(NO_PASSAGE, "attach")
    refuses(NO_PASSAGE, "attach", docid="")
    refuses(NO_PASSAGE, "attach", start="0", end="4")


@pytest.mark.parametrize("verb", ["attach", "add", "read"])
@pytest.mark.parametrize("docid", ["\x00", "d1\x00"])
def test_a_docid_with_a_nul_is_no_passage(refuses, verb: str, docid: str):
    fields = {"add": {"uid": str(NEW), "text": "new"}, "read": {"read": "1"}}.get(verb, {})
    refuses(NO_PASSAGE, verb, docid=docid, **fields)


def test_the_protocol_says_which_passages_are_relevant(edited: NuggetBank, attach: Attach, refuses):
    Protocol.objects.update(min_relevant_grade=2)
    refuses(NO_PASSAGE, "attach", docid="d2", start="0", end="4")
    assert attach(edited, "d1", 0, 4) == (200, "")


# What is kept


def test_evidence_is_kept_in_the_order_in_which_it_came(edited: NuggetBank, attach: Attach):
    for place in [("d1", 5, 9), ("d1", 0, 4), ("d1",), ("d2", 0, 4)]:
        assert attach(edited, *place) == (200, "")
    assert evidence_of(edited) == [
        ("d2", None, None),
        ("d1", 5, 9),
        ("d1", 0, 4),
        ("d1", None, None),
        ("d2", 0, 4),
    ]
    assert evidence_of(edited, B) == [], "nobody else's"


@pytest.mark.parametrize("place", [("d1", 0, 4), ("d2", None, None)], ids=["span", "whole passage"])
def test_attaching_a_place_twice_changes_nothing(edited: NuggetBank, attach: Attach, place: tuple[str, int, int]):
    attach(edited, *place)
    before = everything(edited)
    assert attach(edited, *place) == (200, "")
    after = everything(edited)
    assert after[:4] == before[:4]
    assert len(evidence_of(edited)) == len(set(evidence_of(edited)))


def test_detaching_takes_away_that_place_alone(edited: NuggetBank, as_anna: Client, attach: Attach):
    attach(edited, "d1", 0, 4)
    attach(edited, "d1", 0, 9)
    response = send(as_anna, edited, "detach", docid="d1", start="0", end="4")
    assert (response.status_code, shown(response).version) == (200, EDITED + 3)
    assert evidence_of(edited) == [("d2", None, None), ("d1", 0, 9)]
    send(as_anna, edited, "detach", docid="d2")
    assert evidence_of(edited) == [("d1", 0, 9)]


@pytest.mark.parametrize("place", [{"docid": "d1"}, {"docid": "d2", "start": "0", "end": "4"}, {"docid": "x"}, {}])
def test_detaching_what_is_not_attached_changes_nothing(edited: NuggetBank, as_anna: Client, place: dict[str, str]):
    before = everything(edited)[:4]
    assert send(as_anna, edited, "detach", **place).status_code == 200
    assert everything(edited)[:4] == before


def test_evidence_of_a_passage_that_is_relevant_no_more_can_be_detached(edited: NuggetBank, as_anna: Client):
    Protocol.objects.update(min_relevant_grade=2)
    assert send(as_anna, edited, "detach", docid="d2").status_code == 200
    assert evidence_of(edited) == []


def test_undo_and_redo_know_evidence(edited: NuggetBank, attach: Attach):
    attach(edited, "d1", 0, 4)
    do(edited, actions.detach_evidence, uid=A, evidence={"docid": "d2", "start": None, "end": None})
    edits = list(edited.edits.filter(version__gt=EDITED).values_list("verb", "changes"))
    uid, whole, span = (
        str(A),
        {"docid": "d2", "start": None, "end": None},
        {"docid": "d1", "start": 0, "end": 4},
    )
    assert edits == [
        ("attach", {"nuggets": {uid: {"evidence": [[whole], [whole, span]]}}}),
        ("detach", {"nuggets": {uid: {"evidence": [[whole, span], [span]]}}}),
    ]
    found = []
    for action in (actions.undo, actions.undo, actions.redo, actions.redo):
        do(restored(edited), action)
        found.append(evidence_of(edited))
    whole_place, span_place = ("d2", None, None), ("d1", 0, 4)
    assert found == [[whole_place, span_place], [whole_place], [whole_place, span_place], [span_place]]


# What the page says


class _Passages(HTMLParser):
    """The texts of passages as a browser has them: line ends normalized before parsing, references resolved after."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.inside = False
        self.feed(page.replace("\r\n", "\n").replace("\r", "\n"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "p" and dict(attrs).get("class") == "reading":
            self.texts.append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "p"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[-1] += data


def test_the_page_has_each_passage_character_for_character(odd: NuggetBank, as_anna: Client, olga: Person):
    plain = [Segment.objects.get(docid=docid).text for docid in ("d1", "odd", "d2")]
    for client in (as_anna, client_of(olga)):
        page = client.get(url(odd, "editor")).content.decode()
        assert _Passages(page).texts == plain
    assert "purrs.&#13;\nTwo&#13;&#13;\nthree\n&#13; &lt;b&gt;" in page


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\rb", "a&#13;b"),
        ("a\r\nb", "a&#13;\nb"),
        ("&#13;", "&amp;#13;"),
        ("<b>\"'&", "&lt;b&gt;&quot;&#x27;&amp;"),
        ("\U0001f431 \u2028", "\U0001f431 \u2028"),
        ("", ""),
    ],
)
def test_a_carriage_return_is_written_as_a_reference_and_the_rest_escaped(text: str, written: str):
    assert exact(text) == written
    assert html.unescape(exact(text)) == text
    assert hasattr(exact(text), "__html__"), "not escaped a second time"


def test_the_list_says_where_its_evidence_is(edited: NuggetBank, as_anna: Client, olga: Person, attach: Attach):
    attach(edited, "d1", 5, 9)
    stored = [{"docid": "d2", "start": None, "end": None}, {"docid": "d1", "start": 5, "end": 9}]
    expected = html.escape(f'"evidence": {json.dumps(stored)}')
    assert expected in as_anna.get(url(edited, "editor")).content.decode()
    pages = [client_of(olga).get(url(edited, "editor")).content.decode()]
    do(edited, actions.finish_bank)
    pages += [client.get(url(edited, "editor")).content.decode() for client in (as_anna, client_of(olga))]
    for page in pages:
        assert '<a class="chip" href="#p2" title="d2">¶2</a>' in page
        assert '<a class="chip" href="#p1" title="d1, characters 5 to 9">¶1</a>' in page
        assert 'id="p1"' in page
        assert 'id="p2"' in page


def test_evidence_in_a_passage_that_is_not_there_is_named(edited: NuggetBank, as_anna: Client):
    Protocol.objects.update(min_relevant_grade=2)
    do(edited, actions.finish_bank)
    page = as_anna.get(url(edited, "editor")).content.decode()
    assert '<span class="chip">d2</span>' in page
    assert "¶2" not in page
