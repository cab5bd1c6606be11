"""Checks of single values. Each puts what is wrong into the report and returns the value, or None."""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from assessor.formats.lines import Line
from assessor.formats.report import TAKE_AS_MISSING, Report

MAX_ID = 256  # characters
MAX_DEPTH = 64
LEAST_GRADE, MAX_GRADE = -2, 5  # what is below 0 says that nobody judged it
_GRADES = {str(number): number for number in range(LEAST_GRADE, MAX_GRADE + 1)}
_HALF_CHARACTER_OR_NUL = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # not where the backslash is itself text
_PLAIN_ID = re.compile(rf"[!-~]{{1,{MAX_ID}}}")
# What tools call the columns of forms that have no header.
_COLUMNS = frozenset(
    {"id", "topic", "topic_id", "query_id", "query-id", "qid", "request_id", "narrative_id", "title", "query", "text"}
    | {"iteration", "iter", "q0", "docid", "doc_id", "docno", "corpus-id", "grade", "rel", "relevance", "judgment"}
    | {"rank", "score", "sim", "tag", "run", "run_id", "measure", "metric", "value", "label"}
)
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


class _BareConstant(ValueError):
    pass


class _RepeatedKey(ValueError):
    pass


def _refuse_constant(name: str) -> NoReturn:
    raise _BareConstant(name)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_constant(digits)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        known: set[str] = set()
        for key, _ in pairs:
            if key in known:
                raise _RepeatedKey(key)
            known.add(key)
    return value


def _nan_only(name: str) -> float:
    return math.nan if name == "NaN" else _refuse_constant(name)


def _decoder(constant: Callable[[str], float]) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_each_key_once, parse_constant=constant, parse_float=_finite)


_strict = _decoder(_refuse_constant)
_with_nan = _decoder(_nan_only)
# Without a look for values that hold themselves, which are none of ours.
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)
_nan_encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def to_json(value: Any, *, with_nan: bool = False) -> str:
    """Return JSON on one line, keys in their given order, text unescaped: the one spelling Assay writes."""
    return (_nan_encoder if with_nan else _encoder).encode(value)


def json_object(line: Line, report: Report, *, with_nan: bool = False) -> dict[str, Any] | None:
    """Read a line that must be one JSON object of at most 64 levels, without NaN, Infinity or broken text.

    with_nan: for a caller who says where there may be a NaN; it is then what Python calls so.
    """
    try:
        value = (_with_nan if with_nan else _strict).decode(line.text)
    except _BareConstant as error:
        report.error(line.number, "", str(error), "numbers that are finite")
        return None
    except _RepeatedKey as error:
        report.error(line.number, str(error), "the key twice in one object", "each key once")
        return None
    except json.JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno}: {line.text[max(0, error.pos - 20) : error.pos + 20]}"
        report.error(line.number + error.lineno - 1, "", found, "one JSON object a line")
        return None
    except RecursionError:
        report.error(line.number, "", "very deep nesting", f"JSON of at most {MAX_DEPTH} levels")
        return None
    except ValueError as error:
        report.error(line.number, "", str(error), "numbers of ordinary length")
        return None
    if not isinstance(value, dict):
        report.error(line.number, "", line.text, "a JSON object")
        return None
    may_be_deep = line.text.count("{") + line.text.count("[") > MAX_DEPTH
    if may_be_deep and (depth := _depth(value)) > MAX_DEPTH:
        report.error(line.number, "", f"{depth} levels", f"JSON of at most {MAX_DEPTH} levels")
        return None
    if _HALF_CHARACTER_OR_NUL.search(line.text) and not _is_whole_text(json.dumps(value, ensure_ascii=False)):
        report.error(line.number, "", "\\u0000 or half a surrogate pair", "text of whole characters")
        return None
    return value


def _depth(record: dict[str, Any]) -> int:
    """Return how many levels of objects and lists an object has, without recursion."""
    depth = 0
    level: list[Any] = [record]
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            inner += item.values() if type(item) is dict else item
        level = [item for item in inner if type(item) is dict or type(item) is list]
    return depth


def _is_whole_text(dumped: str) -> bool:
    return not _NUL.search(dumped) and not any("\ud800" <= char <= "\udfff" for char in dumped)


def identifier(value: object, field: str, line: Line, report: Report) -> str | None:
    """Check an id: text of 1 to 256 visible characters without blanks; surrounding blanks go, with a warning."""
    if isinstance(value, str) and _PLAIN_ID.fullmatch(value):
        return value
    if not isinstance(value, str):
        report.error(line.number, field, value, "an id, as text")
        return None
    stripped = value.strip(" \t")
    if stripped != value:
        report.warn("blanks around an id", line.number, field, value, f"stripped to {stripped}")
    if not stripped:
        report.error(line.number, field, value, "an id that is not empty")
    elif any(unicodedata.category(char) in _INVISIBLE for char in stripped):
        report.error(line.number, field, value, "an id without control or invisible characters")
    elif any(char.isspace() for char in stripped):
        report.error(line.number, field, value, "an id without blanks inside")
    elif len(stripped) > MAX_ID:
        report.error(line.number, field, value, f"an id of at most {MAX_ID} characters")
    else:
        return stripped
    return None


def identifiers(found: list[Any], field: str, line: Line, report: Report) -> list[str]:
    """Check a list of ids; where one is wrong, the report says so and it is left out."""
    try:
        joined = " ".join(found)
    except TypeError:
        joined = ""
    is_plain = bool(joined) and joined.isascii() and joined.isprintable() and joined.count(" ") == len(found) - 1
    if is_plain and min(map(len, found)) and max(map(len, found)) <= MAX_ID:
        return found
    checked = [identifier(value, f"{field}[{at}]", line, report) for at, value in enumerate(found)]
    return [value for value in checked if value]


def ids_to_json(ids: list[str]) -> str:
    """Return checked ids as to_json() does, in a third of its time: of what is in them, two characters are escaped."""
    joined = '", "'.join(ids)
    is_plain = bool(ids) and "\\" not in joined and joined.count('"') == 2 * len(ids) - 2
    return f'["{joined}"]' if is_plain else to_json(ids)


def topic_id(value: object, field: str, line: Line, report: Report) -> str | None:
    """Check a topic's id, which some files spell as a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return identifier(str(value) if is_number else value, field, line, report)


def text(value: object, field: str, line: Line, report: Report, *, may_be_blank: bool = False) -> str | None:
    """Check a text."""
    if not isinstance(value, str):
        report.error(line.number, field, value, "text")
        return None
    if "\x00" in value:
        report.error(line.number, field, value, "text without NUL characters")
        return None
    if not may_be_blank and not value.strip():
        report.error(line.number, field, value, "text that is not blank")
        return None
    return value


def required(record: dict[str, Any], field: str, line: Line, report: Report) -> bool:
    """Say whether a key is there; a lacking one is an error."""
    if field in record:
        return True
    report.error(line.number, field, "keys " + ", ".join(record), f"the key {field}")
    return False


def is_header(cells: Sequence[str], line: Line, report: Report) -> bool:
    """Say whether a file's first line names its columns, which is then an error: the form has no header."""
    if line.number > 1 or not {cell.strip().lower() for cell in cells} <= _COLUMNS:
        return False
    remedy = "Delete the first line."
    report.error(line.number, "header", line.text, "no header: values from the first line on", remedy=remedy)
    return True


def grade(value: object, field: str, line: Line, report: Report, *, invalid_labels_missing: bool = False) -> int | None:
    """Check a relevance grade of any scale, or -1 or -2 for not judged, given as a number or in a file's column.

    What is none of these is an error, or is missing and counted.
    """
    if isinstance(value, str):
        value = _GRADES.get(value, value)
    if isinstance(value, int) and not isinstance(value, bool) and LEAST_GRADE <= value <= MAX_GRADE:
        return value
    expected = f"a grade from 0 to {MAX_GRADE}, or -1 or -2 for not judged"
    if invalid_labels_missing:
        report.counts["grades missing"] += 1
        report.warn("grade missing", line.number, field, value, expected)
    else:
        remedy = f"Map grades of another scale to these first. {TAKE_AS_MISSING}"
        report.error(line.number, field, value, expected, remedy=remedy)
    return None
