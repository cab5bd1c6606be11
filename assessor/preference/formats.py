"""Preferences as JSONL, in the form of PrefNugget's *.preferences.jsonl: lines of two kinds, by their "_type".

"comparison": two runs' answers to a topic and which is better, as 1, 2 or 0 for neither. "aggregate": what the
comparisons of a topic come to for a run.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.preference.verdicts import FIRST, SECOND, TIE

COMPARISON, AGGREGATE = "comparison", "aggregate"
_NEEDED = ("run_id", "run_id2", "query_id", "passage_1", "passage_2", "better_passage")
_OF_AGGREGATE = ("run_id", "topic_id", "borda_score")
_VERDICTS = {int(verdict): verdict for verdict in (FIRST, SECOND, TIE)}
_NO_PREFERENCE = "Leave the line out where there is none: a missing preference is no tie."
# What of a comparison is said of its topic, and is not kept with a pair.
_OF_TOPIC = ("query_title", "query_problem", "query_background")


class Comparison(NamedTuple):
    """A line that compares two answers. verdict: in terms of the line; further: keys that have no place elsewhere."""

    line: Line
    qid: str
    runs: tuple[str, str]
    texts: tuple[str, str]
    verdict: str
    further: dict[str, Any]


class Aggregate(NamedTuple):
    """A line that says what the comparisons of a topic come to for a run."""

    line: Line
    qid: str
    run_id: str
    borda: float


def read_preferences(lines: Iterable[Line], report: Report) -> Iterator[Comparison | Aggregate]:
    """Yield the lines in which nothing is wrong."""
    for line in lines:
        record = values.json_object(line, report)
        if record is None or not values.required(record, "_type", line, report):
            continue
        kind = record.pop("_type")
        if kind not in (COMPARISON, AGGREGATE):
            report.error(line.number, "_type", kind, f"{COMPARISON} or {AGGREGATE}")
        elif found := (_comparison if kind == COMPARISON else _aggregate)(record, line, report):
            yield found


def _lacking(record: dict[str, Any], keys: Sequence[str], line: Line, report: Report) -> bool:
    """Say whether a line lacks some of these keys, each of which is then an error."""
    return sum(values.required(record, key, line, report) for key in keys) < len(keys)


def _comparison(record: dict[str, Any], line: Line, report: Report) -> Comparison | None:
    if _lacking(record, _NEEDED, line, report):
        return None
    qid = values.topic_id(record.pop("query_id"), "query_id", line, report)
    runs = [values.identifier(record.pop(key), key, line, report) for key in ("run_id", "run_id2")]
    texts = [values.text(record.pop(key), key, line, report, may_be_blank=True) for key in ("passage_1", "passage_2")]
    better = record.pop("better_passage")
    verdict = _VERDICTS.get(better) if type(better) is int else None
    if verdict is None:
        report.error(line.number, "better_passage", better, "1, 2, or 0 for neither", remedy=_NO_PREFERENCE)
    if qid is None or verdict is None:
        return None
    one, other = runs
    first, second = texts
    if one is None or other is None or first is None or second is None:
        return None
    if one == other:
        report.error(line.number, "run_id2", other, f"another run than {one}")
        return None
    further = {key: value for key, value in record.items() if value is not None and key not in _OF_TOPIC}
    return Comparison(line, qid, (one, other), (first, second), verdict, further)


def _aggregate(record: dict[str, Any], line: Line, report: Report) -> Aggregate | None:
    if _lacking(record, _OF_AGGREGATE, line, report):
        return None
    qid = values.topic_id(record["topic_id"], "topic_id", line, report)
    run_id = values.identifier(record["run_id"], "run_id", line, report)
    borda = record["borda_score"]
    if isinstance(borda, bool) or not isinstance(borda, int | float):
        report.error(line.number, "borda_score", borda, "a number")
        return None
    return None if qid is None or run_id is None else Aggregate(line, qid, run_id, float(borda))


def comparison_record(
    qid: str, topic: dict[str, Any], runs: Sequence[str], texts: Sequence[str], verdict: str, further: dict[str, Any]
) -> dict[str, Any]:
    """Return what a line of two answers says. topic: what is told of it, by key; further: keys as they were read."""
    return {
        "_type": COMPARISON,
        "run_id": runs[0],
        "run_id2": runs[1],
        "query_id": qid,
        **{key: topic.get(key) for key in _OF_TOPIC},
        "passage_1": texts[0],
        "passage_2": texts[1],
        "better_passage": int(verdict),
        "confidence": None,
        "reasoning": None,
        **further,
    }


def aggregate_record(
    qid: str, run_id: str, borda: float, net_wins: float | None, better_than: list[str], worse_than: list[str]
) -> dict[str, Any]:
    """Return what a line of a run and topic says. net_wins: None where all pairs are ties."""
    return {
        "_type": AGGREGATE,
        "run_id": run_id,
        "topic_id": qid,
        "borda_score": int(borda),
        "win_frac": net_wins,
        "better_than": better_than,
        "worse_than": worse_than,
    }
