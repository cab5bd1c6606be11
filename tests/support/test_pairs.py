"""Looking back at pairs: all labels side by side, filters, the texts behind them, and who may see it."""

from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Condition, Judge, Run, Segment
from support import pairs
from support.pairs import Piece, shared_words
from tests.conftest import client_of
from tests.scores.pages import get, scores_of
from tests.support.lines import FILE, FULL, NONE, NOT_JUDGED, cites
from tests.support.lines import line as support_line
from tests.support.scores_helpers import forget, judge, say, sheet_on, support_condition

TEXTS = ("Cats purr when content.", "Their VOICES are many.", "Is it so?")
EVIL = "<script>alert(1)</script>"


def run_line(tag: str, qid: str = "t1", *cited: list[Any], texts: tuple[str, ...] = TEXTS) -> dict[str, Any]:
    docids = sorted({docid for of_one in cited for docid in of_one})
    sentences = [
        {"text": text, "citations": [docids.index(docid) for docid in of_one]}
        for text, of_one in zip(texts, cited, strict=True)
    ]
    return {"run_id": tag, "topic_id": qid, "references": docids, "answer": sentences}


@pytest.fixture
def cited(campaign: Campaign, import_file) -> Campaign:
    of_one = [run_line("one", "t1", ["d1", "d2"], ["d2"], []), run_line("one", "t2", ["d5"], [], [])]
    for lines in (of_one, [run_line("two", "t1", ["d4"], ["d1"], ["d3"])]):
        assert import_file(campaign, "runs", lines).state == "done"
    return campaign


@pytest.fixture
def auto(cited: Campaign) -> Condition:
    """A model that judges all citations."""
    return judge(support_condition(cited), {"one": {"t1": ["fp", "n", ""]}, "two": {"t1": ["!", "?", "-"]}})


@pytest.fixture
def people(cited: Campaign) -> Condition:
    """People who judge the first citations of one answer."""
    return judge(support_condition(cited, "By people"), {"one": {"t1": ["p", "n", ""]}})


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def look(client: Client, status: int = 200, **asked: object) -> tuple[str, list[list[str]]]:
    """Return the page and the rows of its table, without those of the texts."""
    text, page = get(client, f"/campaigns/study/pairs/?{urlencode(asked)}", status)
    return text, [row for row in page.tables[0] if len(row) > 1] if page.tables else []


def told(client: Client, **asked: object) -> list[str]:
    """Return run and sentence of the pairs on a page, with the docids."""
    return [f"{row[0]} {row[1][0]} {row[2]}" for row in look(client, **asked)[1][1:]]


ALL = ["one 1 d1", "one 1 d2", "one 2 d2", "two 1 d4", "two 2 d1", "two 3 d3"]


def test_all_labels_stand_side_by_side(as_olga: Client, auto: Condition, people: Condition):
    say(sheet_on(people, "t1", "one"), "1.0", label=None, cannot="too vague", flag="ask Olga")
    text, rows = look(as_olga)
    assert "6 of 6 pairs of this topic." in text
    assert rows == [
        ["Run", "Sentence", "Passage", "Auto by judge of Auto", "By people by judge of By people"],
        ["one", "1 Cats purr when content.", "d1", "full", "partial"],
        ["one", "1 Cats purr when content.", "d2", "partial", "not asked"],
        ["one", "2 Their VOICES are many.", "d2", "none", "can't judge: too vague flag: ask Olga"],
        ["two", "1 Cats purr when content.", "d4", "no text", "no sheet"],
        ["two", "2 Their VOICES are many.", "d1", "missing", "no sheet"],
        ["two", "3 Is it so?", "d3", "not judged", "no sheet"],
    ]


def test_imported_labels_and_what_a_file_had_instead_are_there(as_olga: Client, auto: Condition, import_file):
    said = cites(TEXTS[0], d1="7", d2=NONE), cites(TEXTS[1], d2=NOT_JUDGED), cites(TEXTS[2])
    judged = [support_line("t1", "one", *said)]
    done = import_file(auto.campaign, "support", judged, condition="File", by="people", invalid_labels="missing")
    assert done.state == "done"
    _, rows = look(as_olga, run=Run.objects.get(tag="one").pk)
    assert [row[-1] for row in rows] == ["File by File", 'missing; the file has "7"', "none", "not judged"]


def test_what_was_shown_and_what_was_adopted_is_said(as_olga: Client, people: Condition):
    say(sheet_on(people, "t1", "one"), "0.0", shown="full")
    say(sheet_on(people, "t1", "one"), "1.0", label=None, cannot="vague", adopted="full")
    _, rows = look(as_olga)
    assert [row[-1] for row in rows[1:]] == [
        "partial shown: full",
        "can't judge: vague; full was taken from another person",
    ]


def test_a_text_that_is_not_the_runs_own_says_so(as_olga: Client, auto: Condition, import_file):
    other = [support_line("t1", "one", cites("Something else.", d1=FULL))]
    assert import_file(auto.campaign, "support", other, **FILE).state == "done"
    _, rows = look(as_olga)
    [apart] = [row for row in rows if "apart" in row[0]]
    assert apart[1:] == ["1 Something else.", "d1", "no sheet", "full"]
    assert rows.index(apart) == 4  # behind the run's own
    assert len(rows) == 1 + 7


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"a_says": "none"}, ["one 2 d2"]),
        ({"a": "Auto", "a_says": "partial"}, ["one 1 d2"]),
        ({"a": "By people", "a_says": "partial"}, ["one 1 d1"]),
        ({"a_says": "partial"}, ["one 1 d1", "one 1 d2"]),
        ({"a": "By people"}, ["one 1 d1", "one 2 d2"]),
        ({"a": "Auto", "a_says": "full", "b": "By people", "b_says": "partial"}, ["one 1 d1"]),
        ({"a": "Auto", "a_says": "full", "b": "By people", "b_says": "none"}, []),
        ({"a": "Auto", "b": "By people"}, ["one 1 d1", "one 2 d2"]),
        ({"a": "Auto", "b": "By people", "differ": 1}, ["one 1 d1"]),
        ({"differ": 1}, ["one 1 d1"]),
        ({"a": "Auto", "b": "Auto", "differ": 1}, []),
        ({"a": "Auto", "a_says": "no text"}, ["two 1 d4"]),
        ({"a_says": "missing"}, ["two 2 d1"]),
        ({"a_says": "not judged"}, ["two 3 d3"]),
        ({"a_says": "can't judge"}, []),
        ({"run": "two", "a_says": "missing"}, ["two 2 d1"]),
        ({"run": "one"}, ALL[:3]),
        ({"run": "", "a": "", "a_says": "", "b": "", "b_says": ""}, ALL),
    ],
)
def test_filters(as_olga: Client, auto: Condition, people: Condition, asked: dict[str, Any], kept: list[str]):
    keys = {one.name: one.pk for one in (auto, people)} | {run.tag: run.pk for run in Run.objects.all()}
    named = {name: keys.get(value, value) if name in ("a", "b", "run") else value for name, value in asked.items()}
    assert told(as_olga, **named) == kept
    text, _ = look(as_olga, **named)
    assert f"{len(kept)} of 6 pairs" in text
    assert ("No pair is like that." in text) == (not kept)
    # What was asked is what the form asks next.
    assert text.count(" selected>") == 1 + sum(bool(value) for name, value in named.items() if name != "differ")
    assert (' name="differ" value="1" checked' in text) == ("differ" in named)


def test_a_difference_is_between_the_two_that_are_chosen(as_olga: Client, auto: Condition, people: Condition):
    third = judge(support_condition(auto.campaign, "Third"), {"one": {"t1": ["f?", "f", ""]}})
    both = {"a": auto.pk, "b": third.pk}
    assert told(as_olga, differ=1) == ["one 1 d1", "one 2 d2"]
    # Of the second pair the third says nothing yet: no other label.
    assert told(as_olga, differ=1, **both) == ["one 2 d2"]
    assert told(as_olga, differ=1, a=people.pk, b=third.pk) == ["one 1 d1", "one 2 d2"]
    assert len(look(as_olga)[1][0]) == 6
    assert [name.split(" ")[0] for name in look(as_olga, **both)[1][0][3:]] == ["Auto", "Third"], "the two alone"


def test_topics_are_looked_at_one_by_one(as_olga: Client, auto: Condition, cited: Campaign):
    t1, t2 = cited.topics.get(qid="t1"), cited.topics.get(qid="t2")
    text, rows = look(as_olga, topic=t2.pk)
    assert "Nothing has been judged of this topic." in text
    assert rows == []
    judge(auto, {"one": {"t2": ["f", "", ""]}})
    assert told(as_olga, topic=t2.pk) == ["one 1 d5"]
    assert told(as_olga) == told(as_olga, topic=t1.pk) == ALL
    forget(sheet_on(auto, "t1", "one"))
    forget(sheet_on(auto, "t1", "two"))
    assert told(as_olga) == ["one 1 d5"]  # the first with judgments


def test_a_campaign_without_judgments_says_so(as_olga: Client, cited: Campaign):
    text, _ = look(as_olga)
    assert "No support has been judged yet." in text
    assert '<form method="get"' not in text


def test_what_is_not_of_this_campaign_is_404(as_olga: Client, auto: Condition, olga: Person, import_file):
    create_campaign(name="Other", slug="other", acting_user=olga)
    other = Campaign.objects.get(slug="other")
    import_file(other, "topics", "x1\tother\n")
    import_file(other, "runs", [run_line("elsewhere", "x1", [], [], [])])
    strange = support_condition(other, "Strange")
    assigning = Condition.objects.create(
        campaign=auto.campaign, name="no support", kind="assignment", method="AutoAssign", protocol=auto.protocol
    )
    for asked in [
        {"a": strange.pk},
        {"b": strange.pk},
        {"a": assigning.pk},
        {"topic": other.topics.get().pk},
        {"run": other.runs.get().pk},
        *({name: value} for name in ("a", "b", "topic", "run") for value in ("0", "9" * 30, "x", "\0", "-1")),
        *({name: value} for name in ("a_says", "b_says") for value in ("good", "FULL", "\0")),
        *({name: value} for name in ("differ", "words") for value in ("0", "yes")),
    ]:
        look(as_olga, status=404, **asked)
    look(as_olga, a=auto.pk, b_says="full", differ="1", words="1")


def test_nobody_else_sees_it(auto: Condition, otto: Person, anna: Person, admin: Person):
    for person in (otto, anna, admin):
        look(client_of(person), status=404)
    assert Client().get("/campaigns/study/pairs/").status_code == 302


def test_pages_keep_what_was_asked(as_olga: Client, auto: Condition, import_file):
    cited = [["d1", "d2", "d3", "d5"]] * 3
    for number in range(4):
        import_file(auto.campaign, "runs", [run_line(f"many{number}", "t1", *cited)])
        judge(auto, {f"many{number}": {"t1": ["ffff"] * 3}})
    asked = {"a": auto.pk, "a_says": "full", "words": 1}
    pages = [told(as_olga, page=page, **asked) for page in (1, 2, 3, 4)]
    assert [len(one) for one in pages] == [15, 15, 15, 4]
    assert len({pair for one in pages for pair in one}) == 49
    assert pages[0] == told(as_olga, **asked)
    text, page = get(as_olga, f"/campaigns/study/pairs/?{urlencode(asked | {'page': 2})}")
    assert "Page 2 of 4: 16 to 30 of 49" in text
    there = [one for one in page.addresses if "page=" in one]
    assert there == [f"?{urlencode(asked | {'page': number})}" for number in (1, 3)]


class Details(HTMLParser):
    """What stands behind the pairs, in order: the answer's sentences, the one that is meant, marked words, the rest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, Any]] = []
        self._inside = False
        self._current = self._marking = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "details" and named.get("class") == "texts":
            self._inside = True
            self.found.append({"open": "open" in named, "start": None, "it": "", "marked": [], "text": ""})
        elif self._inside and tag == "ol":
            self.found[-1]["start"] = named["start"]
        elif tag == "li":
            self._current = "aria-current" in named
        elif tag == "mark":
            self._marking = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self._inside = False
        elif tag == "li":
            self._current = False
        elif tag == "mark":
            self._marking = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            one = self.found[-1]
            one["text"] += data
            if self._current:
                one["it"] += data
            if self._marking:
                one["marked"].append(data)


def test_the_texts_are_behind_each_pair(as_olga: Client, auto: Condition):
    found = Details(look(as_olga)[0]).found
    assert len(found) == 6
    second = found[2]
    assert (second["open"], second["start"], second["it"], second["marked"]) == (False, "1", TEXTS[1], [])
    assert all(text in second["text"] for text in (*TEXTS, "Cats / Voices", "Cats have many voices."))
    assert "The text of d4 is not loaded." in found[3]["text"]


def test_words_of_both_are_marked_on_request(as_olga: Client, auto: Condition):
    found = Details(look(as_olga, words=1)[0]).found
    assert [one["open"] for one in found] == [True] * 6
    assert [one["marked"] for one in found] == [
        ["Cats", "purr", "when", "content", "purr", "when"],
        ["Cats"],
        ["many", "voices"],
        *([] for _ in range(3)),
    ]
    assert "Cats purr when content. Some purr when in pain." in found[0]["text"]


@pytest.mark.parametrize(
    ("sentence", "passage", "marked"),
    [
        ("The STRASSE is long", "Die Straße, the_long way", ["Straße", "the", "long"]),
        ("It is in 2024", "is it 2024? In it.", ["2024"]),
        ("cat", "cats concat cat", ["cat"]),
        ("", "words", []),
        ("words", "", []),
        ("<b>amp</b>", "&amp; <b>bold</b>", ["amp"]),
        ("ÉTÉ", "l'été", ["été"]),
    ],
)
def test_which_words_are_shared(sentence: str, passage: str, marked: list[str]):
    pieces = shared_words(sentence, passage)
    assert [piece.text for piece in pieces if piece.is_shared] == marked
    assert "".join(piece.text for piece in pieces) == passage
    assert Piece("", is_shared=False) not in pieces


def test_long_texts_are_cut_and_it_is_said(
    as_olga: Client, auto: Condition, cited: Campaign, import_file, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pairs, "MAX_PASSAGE", 9)
    monkeypatch.setattr(pairs, "SENTENCES_AROUND", 1)
    texts = tuple(f"number {at}" for at in range(7))
    import_file(cited, "runs", [run_line("long", "t1", [], [], [], ["d1"], [], [], [], texts=texts)])
    judge(auto, {"long": {"t1": ["", "", "", "f", "", "", ""]}})
    [found] = Details(look(as_olga, run=Run.objects.get(tag="long").pk)[0]).found
    assert (found["start"], found["it"]) == ("3", "number 3")
    words = " ".join(found["text"].split())
    assert "2 sentences before number 2number 3number 4 2 sentences after Purring Cats purr 38 more characters" in words
    long = "x" * 3_000
    import_file(cited, "runs", [run_line("longer", "t2", ["d1"], texts=(long,))])
    judge(auto, {"longer": {"t2": ["f"]}})
    text, _ = look(as_olga, topic=cited.topics.get(qid="t2").pk)
    assert "x" * 1_999 + "…" in text
    assert "x" * 2_000 not in text


def test_all_texts_are_text_and_nothing_else(as_olga: Client, cited: Campaign, import_file):
    docid, words = f"d{EVIL}", f"{EVIL} alert script"
    import_file(cited, "segments", [{"docid": docid, "title": EVIL, "headings": EVIL, "segment": words}])
    import_file(cited, "runs", [run_line(EVIL, "t2", [docid], texts=(words,))])
    auto = judge(support_condition(cited, EVIL), {EVIL: {"t2": ["f"]}})
    say(sheet_on(auto, "t2", EVIL), "0.0", label=None, cannot=EVIL, flag=EVIL, shown=EVIL[:20], adopted=EVIL[:20])
    Judge.objects.filter(pk=auto.judge_id).update(name=EVIL)
    assert Segment.objects.filter(docid=docid).exists()
    for asked in ({}, {"words": 1}):
        text, _ = look(as_olga, **asked)
        assert "<script>alert" not in text
        assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 10
    assert Details(text).found[0]["marked"] == ["script", "alert", "script", "alert", "script"]


def test_a_rehearsal_is_marked(as_olga: Client, auto: Condition):
    Judge.objects.filter(pk=auto.judge_id).update(is_rehearsal=True)
    assert look(as_olga)[0].count("with no model behind it") == 1


def test_scores_and_the_campaign_lead_there(as_olga: Client, auto: Condition, cited: Campaign):
    t1 = cited.topics.get(qid="t1")
    for shown, asked in [
        ("/campaigns/study/", ""),
        (scores_of(auto), f"?a={auto.pk}"),
        (f"/campaigns/study/scores/{auto.pk}/topics/{t1.pk}/", f"?topic={t1.pk}&a={auto.pk}"),
    ]:
        assert f"/campaigns/study/pairs/{asked}" in get(as_olga, shown)[1].addresses, shown


def test_more_judgments_take_no_more_queries(as_olga: Client, auto: Condition, cited: Campaign, import_file):
    def count(**asked: object) -> int:
        look(as_olga, **asked)
        with CaptureQueriesContext(connection) as queries:
            look(as_olga, **asked)
        return len(queries)

    asked = {"topic": cited.topics.get(qid="t1").pk, "a": auto.pk, "words": 1}
    small = count(), count(**asked)
    for number in range(4):
        import_file(cited, "runs", [run_line(f"more{number}", "t1", ["d1", "d2"], ["d5"], [])])
        for condition in (auto, support_condition(cited, f"more {number}")):
            judge(condition, {f"more{number}": {"t1": ["fp", "n", ""]}})
    judge(auto, {"one": {"t2": ["f", "", ""]}})
    assert (count(), count(**asked)) == small


def test_the_files_page_counts_conditions_with_labels_that_nobody_could_give(as_olga: Client, cited: Campaign):
    people = judge(support_condition(cited, "By people"), {"one": {"t1": ["fp", "n", ""]}})
    assert "for complete scores" not in as_olga.get("/campaigns/study/exports/").content.decode()
    say(sheet_on(people, "t1", "one"), "1.0", label=None, cannot="too vague")
    assert "1 condition lacks labels for complete scores" in as_olga.get("/campaigns/study/exports/").content.decode()
