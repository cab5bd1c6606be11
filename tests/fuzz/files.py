"""Files, changed: in their bytes, their lines, their cells, their JSON, and in how they are packed."""

import gzip
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.values import HOSTILE, ODD_JSON, deep

hostile = st.sampled_from(HOSTILE) | st.text(max_size=8)
odd = st.sampled_from(ODD_JSON) | hostile
Draw = Callable[[Any], Any]


def encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _bytes(draw: Draw, data: bytes) -> bytes:
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.sampled_from([0, 1, 2, 6, 40])))
    new = draw(st.binary(max_size=4) | hostile.map(encoded))
    return draw(st.sampled_from([data[:start] + new + data[end:], data[:start], data + data[start:end], data[end:]]))


def _lines(draw: Draw, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    how = draw(st.integers(0, 5))
    if how == 0:
        lines.insert(other, lines[at])
    elif how == 1:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 2:
        del lines[at]
    elif how == 3:
        lines[at] = lines[at][:1_000] + draw(
            st.sampled_from([b"\r", b"\x00", b"\x0b", b"\x1a", b"\xe2\x80\xa8", b"\xff"])
        )
    elif how == 4:
        lines.insert(at, draw(hostile.map(encoded)))
    else:
        return draw(st.sampled_from([b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x00\n", b""])).join(lines)
    return b"\n".join(lines)


def _cells(draw: Draw, data: bytes) -> bytes:
    """Change a cell of a line; what parts the cells is told by the line."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    mark = next((mark for mark in (b"\t", b",", b" ") if mark in lines[at]), b" ")
    cells = lines[at].split(mark)
    place = draw(st.integers(0, len(cells) - 1))
    how = draw(st.integers(0, 4))
    if how == 0:
        del cells[place]
    elif how == 1:
        cells.insert(place, cells[place])
    else:
        cells[place] = draw(hostile.map(encoded))
    lines[at] = mark.join(cells)
    return b"\n".join(lines)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to each value in a JSON value, at most some hundreds."""
    found = [at]
    if isinstance(value, dict | list) and len(at) < 8:
        for key in list(value)[:40] if isinstance(value, dict) else range(min(len(value), 12)):
            found += places(value[key], (*at, key))
    return found[:400]


def changed(draw: Draw, value: Any) -> Any:
    """Return a JSON value in which one thing is another, gone, doubled or called otherwise."""
    ways = [way for way in places(value) if way]
    if not ways:
        return draw(odd)
    way = draw(st.sampled_from(ways))
    value = json.loads(json.dumps(value))
    inside = value
    for key in way[:-1]:
        inside = inside[key]
    key, how = way[-1], draw(st.integers(0, 7))
    if how == 0:
        del inside[key]
    elif how == 1 and isinstance(inside, dict):
        inside[draw(hostile)] = inside.pop(key)
    elif how == 2 and isinstance(inside, list):
        inside.append(inside[key])
    elif how == 3:
        inside[key] = draw(st.sampled_from([[inside[key]], {"a": inside[key]}, [inside[key]] * 3]))
    elif how == 4 and isinstance(inside[key], str):
        text = inside[key]
        place = draw(st.integers(0, len(text)))
        inside[key] = text[:place] + draw(hostile) + text[place:]
    elif how == 5 and isinstance(inside, dict):
        inside[draw(hostile)] = draw(odd)
    else:
        inside[key] = draw(odd)
    return value


def _json(draw: Draw, data: bytes) -> bytes:
    """Change one line of JSON, in its meaning or in how it is written."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _cells(draw, data)
    how = draw(st.integers(0, 9))
    if how == 0 and isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        line = json.dumps(value)[:-1] + f", {json.dumps(key)}: {json.dumps(draw(odd))}}}"  # the key twice
    elif how == 1:
        text = json.dumps(value)
        found = [place for place, character in enumerate(text) if character.isdigit() or character == '"']
        place = draw(st.sampled_from(found or [0]))
        new = draw(
            st.sampled_from(
                [deep(65), deep(3_000), "9" * 5_000, "1e999", "NaN", "-Infinity", '"\\ud800"', '"\\u0000"', "'", "01"]
            )
        )
        line = text[:place] + new + text[place + 1 :]
    else:
        for _ in range(draw(st.integers(1, 2))):
            value = changed(draw, value)
        line = json.dumps(value, ensure_ascii=draw(st.booleans()))
    lines[at] = encoded(line)
    return b"\n".join(lines)


def _packed(draw: Draw, data: bytes) -> bytes:
    """Change how the whole file is written down."""
    how = draw(st.integers(0, 9))
    zipped = gzip.compress(data, 1, mtime=0)  # else a second later the same case is another one
    if how == 0:
        return b"\xef\xbb\xbf" * draw(st.integers(1, 2)) + data
    if how == 1:
        return data.decode(errors="replace").encode(draw(st.sampled_from(["utf-16", "utf-16-be", "utf-32", "utf-7"])))
    if how == 2:
        return zipped
    if how == 3:
        return gzip.compress(zipped, 1, mtime=0)
    if how == 4:
        return zipped[: draw(st.integers(0, len(zipped)))]
    if how == 5:
        place = draw(st.integers(0, len(zipped) - 1))
        return zipped[:place] + bytes([draw(st.integers(0, 255))]) + zipped[place + 1 :]
    if how == 6:
        return zipped + draw(st.sampled_from([zipped, b"\x00" * 9, b"more", data[:50]]))
    if how == 7:
        return data.replace(b"\n", draw(st.sampled_from([b"\r\n", b"\r", b"\n\r\n"])))
    if how == 8:
        return draw(
            st.sampled_from(
                [b"", b"\n", b"\x00", b"{}", b"[]", b"null", b"{}\n" * 50, b"\x1f\x8b", b"\xff\xfe", b"PK\x03\x04"]
            )
        )
    return data + draw(st.sampled_from([data, b"\x1a", b"\x00", b"\n" * 3, data[: len(data) // 2]]))


@st.composite
def files(draw: Any, seeds: Sequence[bytes]) -> bytes:
    """Return a good file with something changed, once or a few times."""
    data = draw(st.sampled_from(list(seeds)))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        way = draw(st.sampled_from([_json, _json, _json, _json, _cells, _cells, _lines, _bytes, _packed]))
        data = way(draw, data)
    return data


def zipped(members: Sequence[tuple[str, bytes]], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of members, whose names may be odd or the same."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", how) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the same name twice, which is meant
        for name, data in members:
            # As written files are, so that the same members are the same bytes.
            info = zipfile.ZipInfo(name.replace("\x00", "") or "a", (1980, 1, 1, 0, 0, 0))
            info.compress_type = how
            out.writestr(info, data)
    return held.getvalue()


_NAMES = [
    "../../escaped",
    "/etc/passwd",
    "a/../b",
    "C:\\a",
    "a",
    "manifest.json",
    "campaigns.topic.jsonl",
    "é\u202e",
    "a" * 300,
    "x/",
]


@st.composite
def zips(draw: Any, seed: bytes, sealed: Callable[[dict[str, bytes]], dict[str, bytes]]) -> bytes:
    """Return a zip with a member changed, and mostly a manifest that owns to it; or with its own bytes changed."""
    how = draw(st.integers(0, 9))
    if how == 0:
        return _bytes(draw, seed)
    if how == 1:
        return _packed(draw, seed)
    with zipfile.ZipFile(io.BytesIO(seed)) as opened:
        way = opened.infolist()[0].compress_type
        members = {info.filename: opened.read(info) for info in opened.infolist()}
    name = draw(st.sampled_from(sorted(members)))
    if how == 2:
        return zipped([*members.items(), (draw(st.sampled_from([*_NAMES, name])), draw(st.binary(max_size=20)))], way)
    if how == 3:
        del members[name]
        return zipped(list(members.items()), way)
    if how == 4:
        return zipped(
            list(members.items()), draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
        )
    change = draw(st.sampled_from([_json, _json, _json, _json, _lines, _bytes]))
    members[name] = change(draw, members[name])
    if name != "manifest.json" and how > 5:
        members = sealed(members)
    return zipped(list(members.items()), way)
