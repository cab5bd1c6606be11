"""Requests that a browser would send, changed: the strategies of test_requests."""

import json
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

from tests.fuzz.pages import Pairs, Sent
from tests.fuzz.values import HOSTILE, NUMBERS

UID = "7d3c1f52-0d0e-4f53-8f7e-3c8f0b7a9c11"
KEY = {"key": "5f0c4c1e-6f5c-4d5d-9b59-0d6f1b7f2a11", "version": "0"}
_PLACE = {"docid": "d1", "start": "0", "end": "4"}
# What scripts send that no form of a page shows, by the name of the address.
SCRIPTED: dict[str, dict[str, str]] = {
    "nugget_add": KEY | _PLACE | {"uid": UID, "text": "cats purr when content"},
    "nugget_reword": KEY | {"text": "cats purr"},
    "nugget_importance": KEY | {"importance": "vital"},
    "nugget_move": KEY | {"to": "0"},
    "nugget_delete": KEY,
    "nugget_attach": KEY | _PLACE,
    "nugget_detach": KEY | _PLACE,
    "nugget_split": KEY | {"uid1": UID, "text1": "cats", "uid2": KEY["key"], "text2": "purr"},
    "nugget_merge": KEY | {"uid": UID, "uids": f"{UID} {KEY['key']}", "text": "both"},
    "nugget_note": KEY | {"text": "a note"},
    "nugget_reading": KEY | {"text": "about cats"},
    "nugget_read": KEY | {"docid": "d1", "read": "1"},
    "nugget_undo": KEY,
    "nugget_redo": KEY,
    "nugget_finish": KEY,
    "nugget_reopen": {"reason": "something was missed"},
    "preview_guidelines": {"text": "# What is a nugget?"},
    "time_spent": KEY | {"seconds": "30", "page": "a"},
    "relevance_judge": KEY | {"item": "1", "grade": "2", "reason": "", "seconds": "4"},
    "relevance_undo": KEY | {"item": "1"},
    "relevance_show": KEY | {"item": "1"},
    "relevance_draw": {},
    "assignment_label": KEY | {"nugget": "1", "label": "support", "seconds": "4"},
    "assignment_cannot": KEY | {"nugget": "1", "reason": "garbled", "seconds": "3"},
    "assignment_flag": KEY | {"nugget": "1", "note": "odd"},
    "assignment_mark": KEY | {"nugget": "1", "marks": "[[0, 4]]"},
    "assignment_show": KEY | {"nugget": "1"},
    "assignment_later": KEY | {"to": "0"},
    "assignment_sign_off": KEY,
    "support_label": KEY | {"citation": "0.0", "docid": "d1", "label": "full", "seconds": "4"},
    "support_cannot": KEY | {"citation": "0.0", "docid": "d1", "reason": "garbled", "seconds": "3"},
    "support_flag": KEY | {"citation": "0.0", "docid": "d1", "note": "odd"},
    "support_show": KEY | {"citation": "0.0", "docid": "d1"},
    "support_later": KEY | {"to": "0"},
    "support_sign_off": KEY,
    "resolve_label": {"sheet": "1", "nugget": "1", "label": "support", "from": "1"},
    "leave_nugget_out": {"nugget": "1", "reason": "no fact", "out": "1"},
    "resolve_support_label": {"sheet": "1", "citation": "0.0", "label": "full"},
    "adopt_preference": {"sheet": "1", "item": "0", "other": "1"},
    "decide_preference": {"sheet": "1", "item": "0", "label": "1", "reason": "says more"},
    "leave_citation_out": {"sheet": "1", "citation": "0.0", "reason": "no passage", "out": "1"},
    "answer_question": {
        "of": "assignment",
        "sheet": "1",
        "item": "1",
        "question": "odd",
        "text": "It is.",
        "state": "",
    },
}
# Parameters of addresses that no link on a first page shows.
ASKED = [
    "page",
    "sort",
    "policy",
    "state",
    "measure",
    "condition",
    "answer",
    "before",
    "theme",
    "form",
    "person",
    "large",
]
ASKED += [
    "incomplete",
    "of",
    "topics",
    "topic",
    "run",
    "words",
    "a",
    "b",
    "a_says",
    "b_says",
    "differ",
    "verb",
    "since",
    "until",
]
ASKED += [
    "about",
    "docid",
    "prompt_set",
    "qrels",
    "question",
    "sentence",
    "kind",
    "next",
    "seed",
    "runs",
    "from",
    "to",
    "by",
    "passage",
    "q",
    "filters",
]
HEADERS = [
    "HX-Request",
    "HX-Target",
    "HX-Trigger",
    "HX-Trigger-Name",
    "HX-Current-URL",
    "HX-Prompt",
    "HX-Boosted",
    "X-Seen",
]
HEADERS += [
    "HX-History-Restore-Request",
    "X-Assay-Write",
    "Accept",
    "Accept-Language",
    "Accept-Encoding",
    "Range",
    "Origin",
]
HEADERS += [
    "If-None-Match",
    "If-Modified-Since",
    "Referer",
    "X-HTTP-Method-Override",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
]
HEADERS += [
    "X-Requested-With",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Site",
    "Sec-Fetch-Dest",
    "User-Agent",
    "Host",
    "Authorization",
]
HEADERS += ["Content-Encoding", "Cookie", "X-CSRFToken"]  # a server itself refuses odd lengths
METHODS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "get", "BREW"]
_FORM = "application/x-www-form-urlencoded"
_TYPES = [_FORM, f"{_FORM}; charset=utf-16", f"{_FORM}; charset=nonsense", "application/json", "text/plain", ""]
_TYPES += ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=b"]

hostile = st.sampled_from(HOSTILE) | st.sampled_from(NUMBERS) | st.integers().map(str) | st.text(max_size=12)


class Request(NamedTuple):
    """A request as it is sent. A role is not part of it: the same one is sent as whoever."""

    method: str
    path: str  # percent-encoded, with the query
    body: bytes
    content_type: str
    headers: dict[str, str]
    is_elsewhere: bool  # its path is another than that of the address


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def _encoded(pairs: Pairs) -> str:
    return urlencode(pairs, errors="surrogatepass")


@st.composite
def changed_pairs(draw: Any, pairs: Pairs, names: list[str]) -> Pairs:
    """Return parameters of which some are left out, doubled, added or say something else."""
    pairs = list(pairs)
    for _ in range(draw(st.integers(0, 3))):
        how = draw(st.integers(0, 9))
        if how < 3 or not pairs:
            name = draw(st.sampled_from(names)) if how < 2 or not pairs else draw(hostile)
            pairs.append((name, draw(hostile)))
            continue
        at = draw(st.integers(0, len(pairs) - 1))
        name, value = pairs[at]
        if how == 3:
            del pairs[at]
        elif how == 4:
            pairs.append((name, draw(hostile)))
        elif how == 5 and value:
            place = draw(st.integers(0, len(value)))
            pairs[at] = (name, value[:place] + draw(hostile) + value[place:])
        else:
            pairs[at] = (name, draw(hostile))
    return pairs


@st.composite
def _changed_path(draw: Any, path: str) -> str:
    parts = path.split("/")
    at = draw(st.integers(1, max(1, len(parts) - 2)))
    spelt = draw(hostile | st.sampled_from([str(number) for number in range(1, 12)]))
    _, dot, form = parts[at].rpartition(".")
    keeps_form = dot and draw(st.booleans())
    parts[at] = f"{_quoted(spelt)}.{form}" if keeps_form else _quoted(spelt)
    return "/".join(parts)


@st.composite
def _multipart(draw: Any, pairs: Pairs) -> tuple[bytes, str]:
    lines = []
    for name, value in pairs:
        of_file = draw(st.sampled_from(["", "", '; filename="f.csv"', '; filename="../\x00.gz"', '; filename=""']))
        how = draw(st.sampled_from(["", "", "Content-Transfer-Encoding: base64\r\n", "Content-Type: text/x\r\n"]))
        lines.append(f'--b\r\nContent-Disposition: form-data; name="{name}"{of_file}\r\n{how}\r\n{value}\r\n')
    data = ("".join(lines) + "--b--\r\n").encode(errors="surrogatepass")
    return data[: draw(st.sampled_from([len(data), len(data), len(data) // 2]))], "multipart/form-data; boundary=b"


@st.composite
def requests(draw: Any, seed: Sent, names: list[str]) -> Request:
    """Return a request like another, with something changed: mostly its parameters, sometimes all of it."""
    method, path, pairs = seed
    if draw(st.integers(0, 19)) == 0:
        method = draw(st.sampled_from(METHODS))
    is_elsewhere = draw(st.integers(0, 4)) == 0
    if is_elsewhere:
        path = draw(_changed_path(path))
    headers = {}
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        name = draw(st.sampled_from(HEADERS))
        headers[name] = draw(st.sampled_from(["true", "application/jsonl"]) | hostile)
    pairs = draw(changed_pairs(pairs, names))
    if method == "GET":
        return Request(method, f"{path}?{_encoded(pairs)}", b"", "", headers, is_elsewhere)
    how = draw(st.integers(0, 19))
    if how == 0:
        body, kind = draw(st.binary(max_size=60)), draw(st.sampled_from(_TYPES))
    elif how == 1:
        body, kind = json.dumps(dict(pairs)).encode(), "application/json"
    elif how < 5:
        body, kind = draw(_multipart(pairs))
    elif how == 5:
        body, kind = _encoded(pairs).encode(), draw(st.sampled_from(_TYPES))
    else:
        body, kind = _encoded(pairs).encode(), _FORM
    query = f"?{_encoded(draw(changed_pairs([], names)))}" if draw(st.integers(0, 4)) == 0 else ""
    return Request(method, path + query, body, kind, headers, is_elsewhere)
