"""What models write, and what is read from it: how a list is written may vary, what is in it may not."""

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assessor.llm import replies
from assessor.llm.replies import WrongAnswer, grade, label, labels, last_line_grade
from assessor.relevance.umbrela import GRADES
from assignment.formats import LABELS as ASSIGNMENT
from nuggets.formats import IMPORTANCE
from support.auto_support import IN_PROMPT as SUPPORT


def nuggets(text: str) -> list[str]:
    return replies.texts(text, "nugget")


CATS = ["cats purr", "dogs bark"]


def refused(read: Callable[[], object]) -> str:
    """Return the reason for which a reply is refused; it can be shown to a model and stored."""
    with pytest.raises(WrongAnswer) as caught:
        read()
    reason = str(caught.value)
    assert 0 < len(reason) <= 300
    reason.encode()
    assert "\x00" not in reason
    return reason


# --- How a list is written


@pytest.mark.parametrize(
    "text",
    [
        '["cats purr", "dogs bark"]',
        '  [ "cats purr" ,\n  "dogs bark" ]\n',
        '["cats purr","dogs bark",]',
        "['cats purr', 'dogs bark']",
        "['cats purr', \"dogs bark\"]",
        '```json\n["cats purr", "dogs bark"]\n```',
        '```\n["cats purr", "dogs bark"]```',
        '```python\n["cats purr", "dogs bark"]',
        "[“cats purr”, “dogs bark”]",
        "[„cats purr“, „dogs bark“]",
        "[»cats purr«, »dogs bark«]",
        "[«cats purr», «dogs bark»]",
        "[‘cats purr’, ‘dogs bark’]",  # noqa: RUF001
        "[‚cats purr‘, ‚dogs bark‘]",  # noqa: RUF001
        '{"nuggets": ["cats purr", "dogs bark"]}',
        "{'nuggets': ['cats purr', 'dogs bark']}",
        '```json\n{\n  "nuggets": [\n    "cats purr",\n    "dogs bark"\n  ]\n}\n```',
        'Here it is: {"nuggets": ["cats purr", "dogs bark"]} That is all.',
        '{"reasons": ["x"], "nuggets": ["cats purr", "dogs bark"], "sources": ["d1"]}',
        '["cats \\u0070urr", "dogs\\nbark"]',
        "['cats \\x70urr', 'dogs\\tbark']",
        '["  cats   purr ", "dogs bark"]',
        "1. cats purr\n2. dogs bark",
        "1) cats purr\n2) dogs bark\n",
        "(1) cats purr\n(2) dogs bark",
        " 1.  cats purr\n\n 2.  dogs bark",
        "- cats purr\n- dogs bark",
        "* cats purr\n* dogs bark",
        "• cats purr\n• dogs bark",
        '1. "cats purr",\n2. "dogs bark"',
        "- 'cats purr'\n- 'dogs bark'",
        "1. “cats purr”\n2. “dogs bark”",
        "```\n1. cats purr\n2. dogs bark\n```",
        "Here is the list:\n\n1. cats purr\n2. dogs bark\n\nI hope that it helps.",
        "Sure, with one more [2]:\n1. cats purr\n2. dogs bark",
        'As passages [1] and [2, 3] say:\n["cats purr", "dogs bark"]\n[1] is the better source [see there].',
        '[[1]] and [[2], [3]] say so. ["cats purr", "dogs bark"]',
        'of [0, 5) and [a\n["cats purr", "dogs bark"]',
    ],
)
def test_lists_are_read_however_they_are_written(text: str) -> None:
    assert nuggets(text) == CATS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("['it's warm', 'cats' purr', 'a']", ["it's warm", "cats' purr", "a"]),
        ("[‘it’s warm’, ‘cats’ purr’]", ["it’s warm", "cats’ purr"]),  # noqa: RUF001
        ('["it\'s warm", "the ’80s"]', ["it's warm", "the ’80s"]),  # noqa: RUF001
        ("['cats' purr', 'a\\' b', 'c\\\\']", ["cats' purr", "a' b", "c\\"]),
        ("- it's warm\n- 'tis so", ["it's warm", "'tis so"]),
        ("- 'it's warm'", ["it's warm"]),
        ('["a [1] b", "c ] d", "e, f"]', ["a [1] b", "c ] d", "e, f"]),
        ('["a \\"b\\" c", "d\\\\e", "f\\/g"]', ['a "b" c', "d\\e", "f/g"]),
        (r'["\ud83d\udc08 purrs"]', ["🐈 purrs"]),
        (r"['\U0001f408 purrs', 'it\'s']", ["🐈 purrs", "it's"]),
        ('["“so called” cats"]', ["“so called” cats"]),
        ("1. cats purr: 2. is no entry", ["cats purr: 2. is no entry"]),
        ("- 5 cats [1]", ["5 cats [1]"]),
    ],
)
def test_what_stands_in_quotes_stays_as_it_is(text: str, found: list[str]) -> None:
    assert nuggets(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "I can't help with that.",
        "null",
        '"cats purr"',
        "cats purr, dogs bark",
        "[1, 2, 3]",
        "vital, okay",
        "[vital, okay]",
        "[cats purr]",
        '{"error": "overloaded"}',
        '{"reasons": ["cats purr"]}',
        '{"labels": ["cats purr"]}',
        '{"nuggets": "cats purr"}',
        '{"nuggets": {"1": "cats purr"}}',
        "[[1], [2]]",
        "[" * 1000,
        "]" * 1000,
    ],
)
def test_without_a_list_there_is_nothing_to_read(text: str) -> None:
    assert "no list" in refused(lambda: nuggets(text))


@pytest.mark.parametrize(
    "text",
    [
        '["cats purr", "dogs bark',
        '["cats purr", "dogs bark"',
        '["cats purr", "dogs bark",',
        '["cats purr", ',
        "['cats purr', 'dogs",
        "['cats purr', 'dogs' bark",
        "['cats purr', 'dogs\\']",
        "[“cats purr”, “dogs",
        '```json\n["cats purr", "dogs bark\n```',
        '{"nuggets": ["cats purr", "dogs',
        '["purring"]\nBetter: ["cats purr", "dogs',
        '[["cats purr"], ["dogs',
        '["cats purr" "dogs bark"]',
        "['cats purr' 'dogs bark']",
        '["cats purr"; "dogs bark"]',
        '["cats purr",, "dogs bark"]',
        '["the "best" cats", "dogs bark"]',
        '["cats purr", "dogs bark\n"]',
        '["cats purr", ...',
        '[{"text": "cats purr", "tags": ["a", "b"]}]',
        "1. cats purr\n3. dogs bark",
        "2. cats purr\n3. dogs bark",
        "1. cats purr\nwhen content\n2. dogs bark",
        "1. cats purr\n2. dogs\nthat bark",
        "1. cats purr\n   - when content\n2. dogs bark",
        "- cats purr\n  when content\n- dogs bark",
        "- cats purr\n\nAnd more:\n\n- dogs bark",
        '1. cats purr ["Smith 2020"]\n2. dogs bark',
        '- ["cats purr"]\n- ["dogs bark"]',
    ],
)
def test_a_part_is_never_taken_for_the_whole(text: str) -> None:
    refused(lambda: nuggets(text))


def test_a_list_that_breaks_off_anywhere_is_refused() -> None:
    whole = '["cats purr", "it\'s so", "c]d, [e]f"]'
    assert nuggets(whole) == ["cats purr", "it's so", "c]d, [e]f"]
    for cut in range(len(whole)):
        refused(lambda cut=cut: nuggets(whole[:cut]))  # type: ignore[misc]


@pytest.mark.parametrize(
    "text",
    [
        '["cats purr", 1]',
        '["cats purr", null]',
        '["cats purr", true, "dogs bark"]',
        '["cats purr", ["dogs bark"]]',
        '[["cats purr", "dogs bark"]]',
        '[["cats purr"], ["dogs bark"]]',
        '[[1], ["cats purr"]]',
        '["cats purr", dogs bark]',
        "['the dogs', which bark', 'cats purr']",
        '["cats purr", {"a": 1}]',
        '["cats purr", 2]',
    ],
)
def test_only_texts_are_entries(text: str) -> None:
    assert "no quoted text" in refused(lambda: nuggets(text))


# --- Nuggets


@pytest.mark.parametrize("text", ["[]", '[""]', '["cats purr", "  "]', '{"nuggets": []}'])
def test_no_nugget_is_empty_and_there_is_one_at_least(text: str) -> None:
    assert "at least one" in refused(lambda: nuggets(text))


def test_lists_of_any_length_are_read_whole() -> None:
    texts = [f"nugget {number}" for number in range(1_000)]
    assert nuggets(json.dumps(texts)) == texts


def test_equal_nuggets_stay_as_the_model_gave_them() -> None:
    assert nuggets('["cats purr", "cats purr"]') == ["cats purr", "cats purr"]


@pytest.mark.parametrize(
    "escape", [r"\u0000", r"\x00", r"\u001b", r"\x7f", r"\ud800", r"\udc08\ud83d", "\x00", "\ud800"]
)
def test_what_is_no_text_is_refused(escape: str) -> None:
    assert "no text" in refused(lambda: nuggets(f'["cats {escape} purr"]'))


# --- Labels


def test_labels_are_read_in_order_and_whatever_their_case() -> None:
    assert labels('["vital", "Okay", " VITAL "]', IMPORTANCE, 3, "nugget") == ["vital", "okay", "vital"]
    assert labels("1. support\n2. not_support", ASSIGNMENT, 2, "nugget") == ["support", "not_support"]
    assert labels('{"labels": ["partial_support"]}', ASSIGNMENT, 1, "nugget") == ["partial_support"]
    assert labels("[]", IMPORTANCE, 0, "nugget") == []


@pytest.mark.parametrize(
    "text",
    [
        '["support", "partial_support", "not_support"]',
        '["support", "partial support", "not support"]',
        '["Support", "Partial  Support", "NOT_SUPPORT"]',
        "1. support\n2. partial support\n3. not support",
        "[support, partial support, not support]",
        "[support, partial_support, not_support,]",
        "[Support,\n Partial Support,\n Not Support]",
        '["support", partial_support, not_support]',
        "```\n[support, partial_support, not_support]\n```",
        "Here they are:\n[support, partial_support, not_support]\nThat is all.",
        "As passage [1] says: [support, partial_support, not_support]",
        "{labels: [support, partial_support, not_support]}",
        '{"labels": [support, partial_support, not_support]}',
        "support, partial_support, not_support",
        "Support, Partial support, Not support.",
        "support,\npartial_support,\nnot_support\n",
        "support\npartial_support\n\nnot_support",
        "```\nsupport, partial_support, not_support\n```",
        '"support", "partial_support", "not_support"',
        "**support**, **partial_support**, **not_support**",
        "Labels: support, partial_support, not_support",
        "**Labels of assignment:** support, partial support, not support",
        "<think>[support, support, support]</think>\nsupport, partial_support, not_support",
    ],
)
def test_labels_are_read_without_quotes_and_in_either_spelling(text: str) -> None:
    assert labels(text, ASSIGNMENT, 3, "nugget") == ["support", "partial_support", "not_support"]


@pytest.mark.parametrize(
    "text",
    [
        "support, partial_support, partial",
        "[support, partial_support, partial]",
        "[support, partial_support, 3]",
        "[support, partial_support, not_support",
        "support, partial_support, not_support]",
        "[support, partial_support], [not_support]",
        "[[support, partial_support, not_support]]",
        "[support; partial_support; not_support]",
        "support; partial_support; not_support",
        "support partial_support not_support",
        "support / partial_support / not_support",
        "support, partial_support,, not_support",
        ", support, partial_support, not_support",
        "support, partial_support, not_support?",
        "support, partial_support or not_support, support",
        "I say support, partial_support, not_support",
        "support, partial_support, not_support, as far as I can tell",
        "support, partial_support, not_support\n\nOn reflection: support, support, support",
        "[support, partial_support, not_support] or [support, support, not_support]",
        "[support, partial_support, not_support]\nBut the third may be partial support.",
        '["support", "partial_support", "not_support"], or rather [support, support, support]',
        "{reasons: [support, partial_support, not_support], labels: [support, support, support]}",
        '{"reasons": [support, partial_support, not_support]}',
    ],
)
def test_labels_with_two_readings_or_none_are_refused(text: str) -> None:
    refused(lambda: labels(text, ASSIGNMENT, 3, "nugget"))


@pytest.mark.parametrize("count", [0, 1, 3, 10])
@pytest.mark.parametrize("text", ["[vital, okay]", "vital, okay", "vital\nokay"])
def test_labels_without_quotes_are_counted_too(text: str, count: int) -> None:
    assert f"There are 2 labels; there must be exactly {count}" in refused(
        lambda: labels(text, IMPORTANCE, count, "nugget")
    )


@pytest.mark.parametrize("count", [0, 1, 3, 10])
def test_there_is_a_label_for_each_nugget_and_no_more(count: int) -> None:
    assert f"There are 2 labels; there must be exactly {count}" in refused(
        lambda: labels('["vital", "okay"]', IMPORTANCE, count, "nugget")
    )


@pytest.mark.parametrize(
    "odd",
    [
        "",
        " ",
        "failed",
        "unclear",
        "not_vital",
        "vital?",
        "vital.",
        "vital, okay",
        "vitally",
        "very important",
        "early railways",
        "tang_period_support",
        "cooling_costs_of_old_houses",
        "can be risky",
        "support",
        "full support",
        "has three parts",
        "the voters’ mood",  # noqa: RUF001
        "vi\u200btal",
        "víta\u0301l",
        "１",  # noqa: RUF001
        "1",
        "yes",
    ],
)
def test_a_label_outside_the_vocabulary_is_refused(odd: str) -> None:
    reason = refused(lambda: labels(json.dumps(["vital", odd]), IMPORTANCE, 2, "nugget"))
    assert "Label 2 is" in reason
    assert "vital, okay" in reason


@pytest.mark.parametrize(
    "odd", ["vital", "okay", "full support", "no_support", "no support", "partial", "supported", "not", "none"]
)
def test_labels_of_other_vocabularies_are_refused(odd: str) -> None:
    refused(lambda: labels(json.dumps([odd]), ASSIGNMENT, 1, "nugget"))


def test_a_long_label_is_shown_in_part() -> None:
    assert "..." in refused(lambda: labels(json.dumps(["\x00é\ud800" * 10_000]), IMPORTANCE, 1, "nugget"))


# --- A grade


@pytest.mark.parametrize(
    "text",
    [
        "##final score: 2",
        "## final score: 2",
        "##Final Score:2",
        "**##final score: 2**",
        "##final score: **2**",
        "##final score: 2.",
        "```\n##final score: 2\n```",
        "The passage tells of cats; 3 would be too much.\n\n##final score: 2\n",
        "##final score: 2\n##final score: 2",
        '{"final_score": 2}',
        '{\n  "final_score": 2\n}',
        '```json\n{"final_score":2}\n```',
        'Here: {"reason": "cats, cats", "final_score": 2, "sure": true}',
        "Final score: 2",
        "final score: 2.",
        "#final score: 2",
        "**Final score:** 2",
        "**Final score**: 2",
        "The passage tells of cats.\n\nFinal score: 2",
        "##final score: 2 (why)",
        "##final score: 2 (some answer, but (much) hidden).",
        "**##final score: 2** (some answer)",
        "Final score: 2 (some answer)\n##final score: 2",
        "2",
        " 2\n",
        "2.",
        "**2**",
        '"2"',
        "```\n2\n```",
        "<think>Is it 1 or 3? ##final score: 3</think>\n2",
        "<think>##final score: 3</think>##final score: 2",
        "Final score: 3, I think.\n</think>\n\n2",
        "It answers a part.\n- Final score: 2",
        "It answers a part. ##final score: 2",
    ],
)
def test_the_grade_is_what_the_reply_names(text: str) -> None:
    assert grade(text, GRADES) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[2]",
        "2 (why)",
        "2 3",
        "2\n2",
        "2, 3",
        "2/3",
        "2.0",
        "-2",
        "5",
        "02",
        "²",
        "two",
        "Grade: 2",
        "Score: 2",
        "The score is 2.",
        "final score 2",
        "final score: 2 passages are better",
        "Final score: 3 would be too much.\nFinal score: 2",
        "Final score: 1\n##final score: 2",
        "##final score: 2 (or 3)",
        "##final score: 2 (out of 3)",
        "##final score: 2 (nearly three)",
        "##final score: 2 (or higher)",
        "##final score: 2 (some answer",
        "##final score: 2 (some answer) or 3",
        "##final score: 2 some answer",
        "##final score: 2 - some answer",
        "##final score: (2)",
        "##score: 2",
        "##final score: 2\n##final score: 3",
        "##final score: 2 ##final score: 3",
        '##final score: 1\n{"final_score": 2}',
        "##final score:",
        "##final score:\n2",
        "##final score: GRADE",
        "##final score: 2.5",
        "##final score: 2,5",
        "##final score: 5",
        "##final score: -1",
        "##final score: +2",
        "##final score: 02",
        "##final score: 2/3",
        "##final score: 2 or 3",
        "##final score: two",
        "##final score: ２",  # noqa: RUF001
        "##final score: ²",
        '{"final_score": "2"}',
        '{"final_score": 2.0}',
        '{"final_score": null}',
        '{"final_score": true}',
        '{"final_score": [2]}',
        '{"score": 2}',
        ".2",
        "##final score: .2",
        "I would not give a final score: 2",
        "Passage 1 final score: 2\nPassage 2 final score: 2",
        "<think>##final score: 2",
        "<think>a</think><think>##final score: 2</think>",
        "2 <think>no:\n</think>\n2",
    ],
)
def test_anything_but_one_grade_is_refused(text: str) -> None:
    refused(lambda: grade(text, GRADES))


@pytest.mark.parametrize(
    "text",
    [
        "It names\n1\n3\n2",
        "It answers a part; 3 would be too much.\n\n**2**\n",
        "It answers a part.\n2.",
        "It answers a part.\n##final score: 2 (a part)",
        "2",
        "```\nIt answers a part.\n2\n```",
        "<think>\n3</think>It answers a part.\n2",
    ],
)
def test_the_grade_on_the_last_line_is_taken_where_it_is_asked_for_there(text: str) -> None:
    assert last_line_grade(text, GRADES) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2\nIt answers a part.",
        "It answers a part.\nCategory: 2",
        "It answers a part.\n2 or 3",
        "It answers a part.\n.2",
        "It answers a part.\n4",
        "##final score: 3\n2",
        "##final score: 3\n##final score: 2",
        "<think>It answers a part.\n2",
    ],
)
def test_any_other_last_line_is_refused(text: str) -> None:
    refused(lambda: last_line_grade(text, GRADES))


# --- A label of support


@pytest.mark.parametrize(
    "text",
    [
        "partial support",
        " Partial Support.\n",
        '"partial support"',
        "“partial support”",
        "'partial support'.",
        "**Partial support**",
        "**Partial support.**",
        "[partial support]",
        "`partial support`",
        "partial_support",
        "```\npartial support\n```",
        "```text\nPartial support.\n```",
        '{"label": "partial support"}',
        '```json\n{ "label": "partial support" }\n```',
        "Label: Partial Support",
        "label: partial_support.",
        "**Label:** Partial Support",
        "**Label**: partial support",
        'Label: "partial support"',
        "Label of support: partial support",
        "<think>full support? no support?</think>\nPartial support",
    ],
)
def test_the_label_is_the_whole_reply(text: str) -> None:
    assert label(text, SUPPORT) == "partial support"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "partial",
        "support",
        "not_support",
        "partial support, I think",
        "Label:",
        "Label: support",
        "Label: full support or partial support",
        "Label: full support\nLabel: full support",
        "Label: partial support, I think",
        "My label: partial support",
        "full support, partial support",
        "full support\npartial support",
        "It has partial support.",
        "no partial support",
        '{"label": "partial"}',
        '{"label": null}',
        '{"label": "full support", "other": 1}',
        '["full support"] or ["no support"]',
    ],
)
def test_anything_else_than_a_label_is_refused(text: str) -> None:
    assert "full support, partial support, no support" in refused(lambda: label(text, SUPPORT))


# --- Large and hostile replies

QUOTES = ['"', "“", "„", "”", "«", "»", "'", "‘", "‚"]  # noqa: RUF001

HOSTILE = [
    "[",
    "]",
    "[]",
    '["',
    '"',
    "['",
    "'a",
    "[“",
    "“a,",
    "[“a”,“",
    '["a",',
    "[[[]],",
    "[1,",
    "[a\n",
    "{",
    '{"a":',
    '"a" :',
    "\\",
    '["\\u',
    "- ",
    "- \n",
    "1. a\n",
    "1. [] ",
    " ",
    "\n",
    "#",
    "## ",
    "##final score",
    "##final score: ",
    '"final_score": ',
    '{"label": ',
    "```",
    "``` ",
    "```\n",
    "\x00",
    "\ud800",
    "é",
]


def outcome(read: Callable[[], object]) -> object:
    try:
        return read()
    except WrongAnswer as error:
        reason = str(error)
    assert len(reason) <= 300
    return None


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
@pytest.mark.parametrize("before", ["", "[", '["a", ', "1. a"], ids=repr)
def test_the_longest_replies_are_read_fast(before: str, piece: str) -> None:
    text = (before + piece * 100_000)[:100_000]
    begun = time.process_time()
    outcome(lambda: nuggets(text))
    outcome(lambda: labels(text, IMPORTANCE, 2, "nugget"))
    outcome(lambda: grade(text, GRADES))
    outcome(lambda: label(text, SUPPORT))
    assert time.process_time() - begun < 1


def seconds(read: Callable[[], object]) -> float:
    """Return the least that reading took of a few times; the others had company."""
    times = []
    for _ in range(5):
        begun = time.process_time()
        outcome(read)
        times.append(time.process_time() - begun)
    return min(times)


@pytest.mark.parametrize(
    ("before", "piece"),
    [
        *(("[" + quote, "a") for quote in QUOTES),
        *(("[" + quote, "\\") for quote in QUOTES),
        *(("[" + quote, "\\\\") for quote in QUOTES),
        *(("[" + quote, "\\n") for quote in QUOTES),
        *(("[" + quote, "a" + quote) for quote in QUOTES),
        *(("- " + quote, "a" + quote) for quote in QUOTES),
        ("['", "it's "),
        ("['", "it\\'s"),
        ("['", "a'" + " " * 50),
        ("['a'" + " " * 1_000, "a'"),
        ("[‘", "it’s "),  # noqa: RUF001
        ("[‚", "it‘s "),  # noqa: RUF001
        ("['", "a', '"),
    ],
    ids=repr,
)
def test_quotes_that_never_close_take_linear_time(before: str, piece: str) -> None:
    """Ten times the text takes about ten times the time; where it grows with the square, a hundred times."""
    short, long = ((before + piece * size)[:size] for size in (3_000, 30_000))
    assert seconds(lambda: nuggets(long)) < 40 * seconds(lambda: nuggets(short)) + 0.005


def test_longer_replies_are_not_read() -> None:
    text = '["vital"]' + " " * 200_000
    assert labels(text[:200_000], IMPORTANCE, 1, "nugget") == ["vital"]
    for read in (
        lambda: labels(text, IMPORTANCE, 1, "nugget"),
        lambda: nuggets(text),
        lambda: grade(text, GRADES),
        lambda: label(text, SUPPORT),
    ):
        assert "too long" in refused(read)


def test_deep_nesting_does_no_harm() -> None:
    deep = "[" * 90_000 + '"vital"' + "]" * 90_000
    assert "no quoted text" in refused(lambda: labels(deep, IMPORTANCE, 1, "nugget"))


# --- Any list, any text

# One line, no quotes, backslashes or brackets, and nothing that a list's own marks could be.
plain_texts = (
    st.text(st.characters(categories=["L", "Nd"], include_characters=" ,.;:%()/–"), min_size=1, max_size=40)  # noqa: RUF001
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)
# Whatever can be stored, with its blanks folded.
any_texts = (
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40)
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)

STYLES: dict[str, Callable[[list[str]], str]] = {
    "typographic": lambda texts: "[" + ", ".join(f"“{text}”" for text in texts) + "]",
    "German": lambda texts: "[" + ", ".join(f"„{text}“" for text in texts) + "]",
    "single": lambda texts: "['" + "', '".join(texts) + "']",
    "single typographic": lambda texts: "[" + ",\n".join(f"‘{text}’" for text in texts) + "]",  # noqa: RUF001
    "numbered": lambda texts: "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1)),
    "numbered in brackets": lambda texts: "\n".join(f"({number}) {text}" for number, text in enumerate(texts, start=1)),
    "numbered and quoted": lambda texts: "\n".join(
        f'{number}. "{text}",' for number, text in enumerate(texts, start=1)
    ),
    "dotted": lambda texts: "\n".join(f"- {text}" for text in texts),
}
EXACT: dict[str, Callable[[list[str]], str]] = {
    "JSON": json.dumps,
    "JSON, unescaped": lambda texts: json.dumps(texts, ensure_ascii=False),
    "JSON, indented": lambda texts: json.dumps(texts, indent=2),
    "object": lambda texts: json.dumps({"nuggets": texts}),
    "Python": repr,
    "Python's ASCII": ascii,
}
AROUND: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "fenced": lambda text: f"```\n{text}\n```",
    "fenced as JSON": lambda text: f"```json\n{text}\n```\n",
    "text around": lambda text: f"With [1] and [2, 3] it's this list:\n\n{text}\n\nThat is all [1].",
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("style", STYLES)
@given(texts=st.lists(plain_texts, min_size=1, max_size=12))
def test_plain_lists_read_back_equal_in_every_style(style: str, around: str, texts: list[str]) -> None:
    assert nuggets(AROUND[around](STYLES[style](texts))) == texts


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("style", EXACT)
@given(texts=st.lists(any_texts, min_size=1, max_size=12))
def test_any_list_reads_back_equal_as_json_and_python(style: str, around: str, texts: list[str]) -> None:
    assert nuggets(AROUND[around](EXACT[style](texts))) == texts


@given(texts=st.lists(any_texts, min_size=1, max_size=5), data=st.data())
def test_a_list_that_breaks_off_is_never_read(texts: list[str], data: st.DataObject) -> None:
    whole = json.dumps(texts, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(whole) - 1))
    assert outcome(lambda: nuggets(whole[:cut])) is None


# Made of what replies are made of, so that much of it is nearly right.
pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [*HOSTILE, "vital", "okay", "support", "full support", "2", ", ", "[", "]", "\n", ".", "labels"]
        ),
        st.text(max_size=5),
    ),
    max_size=30,
).map("".join)


@given(text=st.one_of(st.text(), pieces))
@example(text='["vital", "okay"]')
@example(text="##final score: 2")
@example(text="full support")
def test_any_text_gives_what_was_asked_for_or_is_refused(text: str) -> None:
    found = outcome(lambda: nuggets(text))
    assert found is None or (isinstance(found, list) and found and all(_is_storable(one) for one in found))
    for vocabulary in (IMPORTANCE, ASSIGNMENT):
        read = outcome(lambda vocabulary=vocabulary: labels(text, vocabulary, 2, "nugget"))  # type: ignore[misc]
        assert read is None or (isinstance(read, list) and len(read) == 2 and set(read) <= set(vocabulary))
    assert outcome(lambda: grade(text, GRADES)) in (None, *GRADES)
    assert outcome(lambda: label(text, SUPPORT)) in (None, *SUPPORT)


def _is_storable(text: str) -> bool:
    return bool(text.strip()) and "\x00" not in text and text == text.encode().decode()


@pytest.mark.parametrize(
    "text",
    [
        'First I thought of ["purring"], but then: ["cats purr", "dogs bark"]',
        'The list was [] so far. Updated list: ["cats purr", "dogs bark"]',
        '["cats purr"]\nOn second thoughts:\n["cats purr", "dogs bark"]\n',
        "1. purring\n\nOn second thoughts:\n\n1. cats purr\n2. dogs bark",
        '["cats purr"]\n["dogs bark"]\n["bees hum"]',
        'For example ["a", "b"] would do. My list:\n\n1. cats purr\n2. dogs bark',
        '["cats purr", "dogs bark"]\n\nWait, correcting:\n- cats purr\n- dogs howl',
    ],
)
def test_of_several_lists_that_differ_none_is_taken(text: str) -> None:
    assert "several lists" in refused(lambda: nuggets(text))


def test_a_list_that_is_said_twice_is_one() -> None:
    assert nuggets('["cats purr", "dogs bark"]\nAgain: ["cats purr", "dogs bark"]') == CATS


@pytest.mark.parametrize("text", ['<think>Perhaps ["purring"]?', '<think>a</think><think>["purring"]</think>'])
def test_thoughts_alone_are_no_answer(text: str) -> None:
    assert "no answer after its thoughts" in refused(lambda: nuggets(text))


def test_thoughts_that_the_endpoint_opened_are_none_of_the_answer() -> None:
    thoughts = 'Perhaps ["vital", "vital"]?\n</think>\n'
    assert labels(thoughts + "vital, okay", IMPORTANCE, 2, "nugget") == ["vital", "okay"]
    assert nuggets('["it ends with </think>"]') == ["it ends with </think>"]


def test_thoughts_before_the_list_are_none_of_it() -> None:
    assert nuggets('<think>Perhaps ["purring"]?\n1. no</think>\n["cats purr", "dogs bark"]') == CATS


@pytest.mark.parametrize(
    "text",
    [
        "1. support\n2. not_support\n\nOn reflection nugget 2 is support.",
        '["support", "not_support"]\nThough the second may be partial_support.',
    ],
)
def test_labels_that_are_taken_back_are_refused(text: str) -> None:
    assert "follows the list" in refused(
        lambda: labels(text, ("support", "partial_support", "not_support"), 2, "nugget")
    )
