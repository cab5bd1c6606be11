"""Hybrid scores as tables: of a page, in files, and as JSON."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats.tables import write_table
from metaeval.hybrids import Result, hybrid_result
from metaeval.inputs import NothingToCompare
from metaeval.models import Hybrid
from metaeval.serializers import number

_COLUMNS = (
    *("run_id", "task", "measure", "place", "score", "low", "high", "halfwidth", "weight", "judged_topics", "topics"),
    *("order_score", "order_weight", "people", "model", "target", "confidence", "why"),
)
_PAIRS = ("measure", "first", "second", "difference", "low", "high", "halfwidth", "p", "p_holm", "weight")
Json = dict[str, Any]


class Row(NamedTuple):
    """A run as the page's table has it, figures as text."""

    place: int
    run: str
    task: str
    score: str
    half_width: str
    interval: str
    order_score: str
    people: str
    model: str
    judged: int
    why: str


def table_rows(result: Result) -> list[Row]:
    """Return the runs in the order of their shrunk scores."""
    show, scores = result.measure.on_page, result.scores
    return [
        Row(
            place,
            result.sides.runs[at],
            result.sides.tasks[at],
            show(scores.mean[at]),
            show(scores.half_width[at]),
            "—" if scores.why[at] else f"{show(scores.low[at])} to {show(scores.high[at])}",
            show(result.shrunk.scores[at]),
            show(result.human[at]),
            show(result.model[at]),
            int(scores.judged[at]),
            scores.why[at],
        )
        for place, at in enumerate(result.order, start=1)
    ]


def score_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table (CSV) of runs by each measure, in the order of their shrunk scores."""
    return write_table(_COLUMNS, (row for result in results for row in _score_rows(result)))


def _score_rows(result: Result) -> Iterator[Sequence[object]]:
    told = score_json(result)
    for run in told["runs"]:
        yield [
            *(run["run_id"], run["task"], told["measure"], run["place"], run["score"], run["low"], run["high"]),
            *(run["half_width"], told["weight"], run["judged_topics"], run["topics"], run["order_score"]),
            *(told["order_weight"], run["people"], run["model"], told["target"], told["confidence"], run["why"]),
        ]


def pair_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table (CSV) of the differences of all pairs of runs by each measure."""
    return write_table(_PAIRS, (row for result in results for row in _pair_rows(result)))


def _pair_rows(result: Result) -> Iterator[Sequence[object]]:
    runs, found = result.sides.runs, result.differences
    estimates = found.estimates
    columns = (estimates.mean, estimates.low, estimates.high, estimates.half_width, found.p, result.holm)
    for first, second, *figures in zip(
        found.first.tolist(), found.second.tolist(), *(column.tolist() for column in columns), strict=True
    ):
        weight = number(estimates.weight)
        yield [result.measure.key, runs[first], runs[second], *map(number, figures), weight]


def leaderboard_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield "run measure topic value" (tot) of all runs that have a score; measures say what they are of."""
    for result in results:
        sides = result.sides
        told = f"hybrid({sides.human_name}+{sides.model_name});{result.settings.target};{result.settings.confidence}%"
        name = re.sub(r"\s+", "_", f"{result.measure.key}[{told}]")
        for at in result.order:
            if (value := number(float(result.scores.mean[at]))) is not None:
                yield f"{sides.runs[at]} {name} all {value}\n"


def score_json(result: Result) -> Json:
    """Return the scores by a measure, in the order of the shrunk ones; what is undefined is null, beside the reason."""
    sides, scores = result.sides, result.scores
    columns = {
        "score": scores.mean,
        "low": scores.low,
        "high": scores.high,
        "half_width": scores.half_width,
        "order_score": result.shrunk.scores,
        "people": result.human,
        "model": result.model,
    }
    return {
        "human": sides.human_name,
        "model": sides.model_name,
        "measure": result.measure.key,
        "target": result.settings.target.value,
        "confidence": result.settings.confidence,
        "prior_sd": result.settings.prior_sd,
        "weight": number(scores.weight),
        "order_weight": number(result.shrunk.weight.value),
        "judged_topics": result.judged,
        "topics": result.topics,
        "pairs": result.pairs,
        "decided_pairs": result.decided,
        "decided_pairs_holm": result.decided_holm,
        "runs": [
            {
                "run_id": sides.runs[at],
                "task": sides.tasks[at],
                "place": place,
                **{name: number(float(figures[at])) for name, figures in columns.items()},
                "judged_topics": int(scores.judged[at]),
                "topics": int(scores.topics[at]),
                "why": scores.why[at],
            }
            for place, at in enumerate(result.order, start=1)
        ],
    }


FILES = {"csv": score_lines, "pairs.csv": pair_lines, "tot": leaderboard_lines}


def file_lines(hybrid: Hybrid, form: str) -> Iterator[str]:
    """Yield a file, by all measures that both sides have; where there is nothing to estimate, without a row."""
    try:
        results = [hybrid_result(hybrid, key) for key in hybrid_result(hybrid).sides.measures]
    except NothingToCompare:
        results = []
    return FILES[form](results)
