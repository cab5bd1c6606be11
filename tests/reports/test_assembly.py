"""How documents are cut, and reports put together."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assessor.campaigns.models import Protocol, Topic
from assessor.campaigns.report_length import characters, report_limit
from assessor.llm.replies import WrongAnswer
from nuggets.reports.assembly import CHUNK, Found, assemble, chunks, fold, is_verbatim
from nuggets.reports.prompts import Said, read_said

PASSAGE = "Cats purr when content. Some  purr when in pain."


def found(question: str, text: str, confidence: int, place: int = 0, condensed: str = "") -> Found:
    return Found(question, f"d{place}", place, 0, text, condensed or f"It is said: {text}", confidence)


def test_documents_are_cut_where_sentences_end():
    sentence = "Cats purr when they are content, and also when they heal. "
    cut = chunks(sentence * 40)
    assert all(len(chunk) <= CHUNK and chunk.endswith("heal.") for chunk in cut)
    assert " ".join(cut) == fold(sentence * 40)
    assert len(cut) == 3
    assert chunks("猫は喉を鳴らす。犬は吠える。" * 100)[0].endswith("。")
    assert [len(chunk) for chunk in chunks("x" * 2_500)] == [1_000, 1_000, 500]
    assert chunks(" \n ") == []


@given(st.text(alphabet=string.ascii_letters + " .?!\n。", max_size=5_000))
def test_no_text_is_lost_by_cutting(text: str):
    cut = chunks(text)
    assert all(0 < len(chunk) <= CHUNK for chunk in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())


def test_the_most_confident_sentence_of_each_question_comes_in_in_the_order_of_the_bank():
    said = {
        "b": [found("b", "Bees make honey.", 5), found("b", "Honey is sweet.", 9, 1)],
        "a": [found("a", "Cats purr.", 3, 2), found("a", "Cats sleep.", 3, 1)],
    }
    report = assemble(["a", "none", "b"], said, per_question=1, limit=0, is_extractive=True)
    assert [(one.text, one.found.docid) for one in report] == [("Cats sleep.", "d1"), ("Honey is sweet.", "d1")]
    report = assemble(["a", "b"], said, per_question=2, limit=0, is_extractive=False)
    assert [one.text for one in report] == [
        "It is said: Cats sleep.",
        "It is said: Cats purr.",
        "It is said: Honey is sweet.",
        "It is said: Bees make honey.",
    ]


def test_what_was_said_is_not_said_again():
    said = {"a": [found("a", "Cats purr.", 9)], "b": [found("b", "The cats: purr", 9, 1), found("b", "Dogs bark.", 1)]}
    report = assemble(["a", "b"], said, per_question=2, limit=0, is_extractive=True)
    assert [one.text for one in report] == ["Cats purr.", "Dogs bark."]


@pytest.mark.parametrize(("limit", "sentences"), [(9, 0), (10, 1), (19, 1), (20, 2), (24, 3), (0, 3)])
def test_a_report_ends_before_its_limit(limit: int, sentences: int):
    said = {
        name: [found(name, text, 1)] for name, text in zip("abc", ["Cats purr.", "Dogs bark.", "Elk."], strict=True)
    }
    assert len(assemble("abc", said, per_question=1, limit=limit, is_extractive=True)) == sentences


def test_limits_count_characters_as_tracks_do():
    assert characters("ﬁ e\N{COMBINING ACUTE ACCENT}") == 4
    asked = [({"limit": 2_000}, 0), ({"limit": "2000"}, 0), ({"limit": 2_000}, 300), ({"limit": "long"}, 0), ({}, 0)]
    found = [report_limit(Topic(extras=extras), Protocol(argue_max_chars=most)) for extras, most in asked]
    assert found == [2_000, 2_000, 300, 0, 0]


def test_a_reply_is_read():
    reply = '{"extracted": "Some purr when\\nin pain.", "condensed": "Cats in pain may purr.", "confidence": 8}'
    assert read_said(f"```json\n{reply}\n```", PASSAGE) == Said("Some purr when in pain.", "Cats in pain may purr.", 8)
    assert read_said('{"extracted": " ", "condensed": "", "confidence": 0}', PASSAGE) is None


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Cats purr.", "an object in JSON with extracted, condensed, confidence"),
        ('{"extracted": "Cats purr when content."}', "an object in JSON"),
        ('{"extracted": "Cats purr when sad.", "condensed": "x", "confidence": 1}', "copy it word for word"),
        ('{"extracted": "cats purr when content.", "condensed": "x", "confidence": 1}', "copy it word for word"),
        ('{"extracted": "", "condensed": "Cats purr.", "confidence": 1}', "or both be empty"),
        ('{"extracted": "Cats purr", "condensed": "", "confidence": 1}', "or both be empty"),
        ('{"extracted": "Cats purr", "condensed": "x", "confidence": 11}', "from 0 to 10"),
        ('{"extracted": "Cats purr", "condensed": "x", "confidence": "5"}', "from 0 to 10"),
        ('{"extracted": "Cats purr", "condensed": "x", "confidence": true}', "from 0 to 10"),
        ('{"extracted": ["Cats purr"], "condensed": "x", "confidence": 5}', "must be texts"),
        ('{"extracted": "Cats purr", "condensed": "x\\u0000", "confidence": 5}', "one plain sentence"),
    ],
)
def test_a_wrong_reply_is_asked_for_again(reply: str, why: str):
    with pytest.raises(WrongAnswer, match=why):
        read_said(reply, PASSAGE)


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_whatever_stands_in_a_text_is_verbatim(text: str, start: int, end: int):
    assert is_verbatim(text[start:end], text)
