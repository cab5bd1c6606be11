"""What a model might write, changed: it is read as an answer in the vocabulary, or refused with the reason."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from assessor.llm import replies
from assessor.llm.gateway import read_reply
from assessor.llm.prompt_sets import names, prompt_set
from assessor.relevance.umbrela import GRADES, RELEVANCE_PROMPT
from assignment.auto_assign import ASSIGNMENT_PROMPT
from assignment.formats import LABELS
from nuggets.formats import IMPORTANCE
from nuggets.prompts import CREATION_PROMPT, IMPORTANCE_PROMPT
from support.auto_support import IN_PROMPT, SUPPORT_PROMPT
from tests.examples import examples
from tests.fuzz.files import changed
from tests.fuzz.profile import fuzz
from tests.fuzz.values import HOSTILE, ODD_JSON

NUGGETS = ["cats purr when content", "purring heals", "kittens purr", "glass is melted"]
_ODD = [
    '<think>["support"]</think>',
    "Sure! Here it is:\n",
    "```json\n",
    "```",
    "\n```\n",
    "[",
    "]",
    "]]",
    "[[",
    ",",
    ",,",
    "'",
    '"',
]
_ODD += [
    "“",
    "”",
    "«",
    "\\",
    '\\"',
    "\\u0000",
    "\\ud800",
    "\\x",
    "\\U0010ffff",
    "1. ",
    "- ",
    "* ",
    "[1]",
    '{"labels": ',
    "}",
    "null",
    "None",
    "3",
    "...",
]
_ODD += [
    "support",
    "partial support",
    "Support.",
    "SUPPORT",
    "not support",
    "failed",
    "vital/okay",
    "full support",
    "no support",
    "okay",
    "##final score: 2",
]
_ODD += [
    "##final score: 4",
    "##final score: -1",
    "## Final Score : ٣",
    "##final score: 2.0",
    '{"final_score": 2}',
    '{"label": "full support"}',
]
_ODD += [
    "[" * 9_000,
    "['" * 5_000,
    '"\\' * 5_000,
    "1. a\n" * 3_000,
    "```\n" * 3_000,
    "##" + " " * 20_000,
    "a'" * 20_000,
    '["a", ' * 3_000,
]


def shapes(entries: Sequence[str]) -> list[str]:
    """Return how models write a list."""
    spelt = json.dumps(list(entries), ensure_ascii=False)
    return [
        spelt,
        repr(list(entries)),
        f"```python\n{spelt}\n```",
        f"Here is the list:\n\n{spelt}\n\nIt follows the order of the nuggets [1].",
        json.dumps({"labels": list(entries)}),
        json.dumps({"nuggets": list(entries)}, indent=1),
        "\n".join(f"{number}. {entry}" for number, entry in enumerate(entries, 1)),
        "\n".join(f'- "{entry}",' for entry in entries),
        f'<think>The first is {entries[0]}; maybe ["x"].</think>\n{spelt}',
        "[" + ", ".join(f"“{entry}”" for entry in entries) + "]",
        "[" + ", ".join(entries) + "]",
        ", ".join(entry.replace("_", " ") for entry in entries),
    ]


@st.composite
def texts(draw: Any, seeds: Sequence[str]) -> str:
    """Return what a model wrote with something put in, left out, doubled, cut off or in other letters."""
    text = draw(st.sampled_from(list(seeds)))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3]))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 8, 30])))
        new = draw(st.sampled_from(_ODD) | st.sampled_from(HOSTILE) | st.text(max_size=4))
        ways = [text[:start] + new + text[end:]] * 4 + [text[:start], text + text[start:end], text + new, new + text]
        text = draw(
            st.sampled_from([*ways, text.upper(), text.replace('"', "'"), text + text, text.replace(" ", "\u00a0")])
        )
    return text


def is_read(read: Callable[[str], Any], is_fit: Callable[[Any], bool], text: str) -> str:
    reason = ""
    try:
        answer = read(text)
    except replies.WrongAnswer as error:
        reason = str(error)
        reason.encode()  # it is sent back to the model, and kept
    assert reason or is_fit(answer), answer
    return "refused" if reason else "read"


def is_list(answer: Any) -> bool:
    """Say whether it is a list of 1 to 30 texts, each one storable."""
    whole = all((text and text.isprintable) or text for text in answer)
    return whole and 1 <= len(answer) <= 30 and all("\x00" not in text and text.encode() for text in answer)


def test_changed_answers_are_read_or_refused():
    found = []
    for name in names():
        prompts = prompt_set(name)
        of_labels = {
            "importance": (IMPORTANCE_PROMPT.request(prompts, query="q", nuggets=NUGGETS), IMPORTANCE),
            "assignment": (
                ASSIGNMENT_PROMPT.request(prompts, query="q", answer="a", nuggets=NUGGETS),
                LABELS,
            ),
        }
        for kind, (question, words) in of_labels.items():
            said = [words[at % len(words)] for at in range(len(NUGGETS))]

            def is_fit(answer: Any, words: tuple[str, ...] = words) -> bool:
                return len(answer) == len(NUGGETS) and set(answer) <= set(words)

            seeds, most = shapes(said), examples(60, 2_000)
            found += _found(name, kind, seeds, question.read, is_fit, most)
        asked = CREATION_PROMPT.request(prompts, query="q", passages=["p"], nuggets=[], most=30, words=12)
        found += _found(name, "creation", shapes(NUGGETS), asked.read, is_list, examples(60, 2_000))
        graded = RELEVANCE_PROMPT.request(prompts, query="q", passage="p")
        seeds = ["##final score: 2", "M: 2\nT: 1\n##final score: 3", "**##Final Score: 1**", '{"final_score": 0}']
        seeds += ["Final score: 2", "##final score: 2 (some answer)", "2"]
        found += _found(name, "relevance", seeds, graded.read, GRADES.__contains__, examples(60, 2_000))
        judged = SUPPORT_PROMPT.request(prompts, sentence="s", passage="p")
        seeds = [
            "full support",
            '"Partial Support".',
            "**No Support**",
            '{"label": "no support"}',
            "```\nfull_support\n```",
            "Label: No Support",
        ]
        found += _found(name, "support", seeds, judged.read, IN_PROMPT.__contains__, examples(60, 2_000))
    assert found == [], "\n\n".join(found)


def _found(
    name: str, kind: str, seeds: Sequence[str], read: Callable[[str], Any], is_fit: Callable[[Any], bool], most: int
) -> list[str]:
    subject = f"{name} {kind}"
    return fuzz("replies", subject, texts(seeds), lambda text: is_read(read, is_fit, text), most)


_WHOLE = {
    "id": "1", "object": "chat.completion", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    "choices": [{"index": 0, "message": {"role": "assistant", "content": '["a"]'}, "finish_reason": "stop"}],
}  # fmt: skip
# What the gateway takes for "this is no chat completion".
_NONE = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)


@st.composite
def responses(draw: Any) -> str:
    """Return the body of a response of an endpoint, changed."""
    value = _WHOLE
    for _ in range(draw(st.integers(1, 3))):
        value = changed(draw, value)
    text = json.dumps(value)
    if draw(st.integers(0, 4)) == 0:
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from([*_ODD, *map(str, ODD_JSON), "1e999"])) + text[place:]
    return text


def test_changed_responses_are_replies_or_none():
    def check(raw: str) -> str:
        try:
            reply = read_reply(raw)
        except _NONE:
            return "refused"
        assert (reply.text is None) == bool(reply.problem)
        assert reply.text is None or isinstance(reply.text, str)
        assert 0 <= reply.tokens_in < 2**31
        assert 0 <= reply.tokens_out < 2**31
        (reply.raw + reply.model + reply.problem).encode()
        assert "\x00" not in reply.raw + reply.model + reply.problem
        return "none" if reply.text is None else "text"

    found = fuzz("replies", "responses of endpoints", responses(), check, examples(60, 2_000))
    assert found == [], "\n\n".join(found)
