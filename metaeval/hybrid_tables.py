"""Hybrid scores as tables: of a page, in files, and as JSON."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats.tables import write_table
from metaeval.hybrid_words import name_draws
from metaeval.hybrids import Result, hybrid_result
from metaeval.inputs import NothingToCompare
from metaeval.models import Hybrid
from metaeval.serializers import number

_COLUMNS = (
    *("run_id", "task", "measure", "place", "score", "low", "high", "halfwidth", "weight", "judged_topics", "topics"),
    *("order_score", "order_weight", "people", "model", "target", "confidence", "draw", "draws"),
    *("tau_people", "tau_people_low", "tau_people_high"),
    *("tau_people_model", "tau_people_model_low", "tau_people_model_high", "why"),
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


def score_lines(results: Sequence[Result], hybrid: Hybrid | None = None) -> Iterator[str]:
    """Yield a table (CSV) of runs by each measure, in the order of their shrunk scores.

    hybrid: the record, where there is one: of which draw of topics the scores are, and what else was drawn for people.
    """
    drawn = [hybrid.draw or "", name_draws(hybrid.human.draws.all())] if hybrid else ["", ""]
    return write_table(_COLUMNS, (row for result in results for row in _score_rows(result, drawn)))


def _score_rows(result: Result, drawn: Sequence[object]) -> Iterator[Sequence[object]]:
    told = score_json(result)
    orders = told["tau_people"] or {"hybrid": {}, "model": {}}
    taus = [orders[one].get(name) for one in ("hybrid", "model") for name in ("tau", "low", "high")]
    for run in told["runs"]:
        yield [
            *(run["run_id"], run["task"], told["measure"], run["place"], run["score"], run["low"], run["high"]),
            *(run["half_width"], told["weight"], run["judged_topics"], run["topics"], run["order_score"]),
            *(told["order_weight"], run["people"], run["model"], told["target"], told["confidence"]),
            *(*drawn, *taus, run["why"]),
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
        "tau_people": _against_people(result),
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


def _against_people(result: Result) -> Json | None:
    """Return tau of both orders with people's, with its interval; None where the result has none."""
    if result.against_people is None:
        return None
    return {
        name: {"tau": number(one.tau.value), "low": number(one.low), "high": number(one.high), "why": one.tau.why}
        for name, one in zip(("hybrid", "model"), result.against_people, strict=True)
    }


def draws_json(hybrid: Hybrid) -> list[Json]:
    """Return all draws of topics for the people, in the order of their numbers, and which of them is scored."""
    return [
        {
            "seed": draw.seed,
            "topics": draw.topics,
            "frame": len(draw.frame),
            "scored_models": draw.scored_models,
            "created_at": draw.created_at.isoformat(),
            "is_used": draw.pk == hybrid.draw_id,
        }
        for draw in hybrid.human.draws.all()
    ]


FILES: dict[str, Callable[[Sequence[Result], Hybrid | None], Iterator[str]]] = {
    "csv": score_lines,
    "pairs.csv": lambda results, hybrid: pair_lines(results),
    "tot": lambda results, hybrid: leaderboard_lines(results),
}


def file_lines(hybrid: Hybrid, form: str) -> Iterator[str]:
    """Yield a file, by all measures that both sides have; where there is nothing to estimate, without a row."""
    try:
        results = [hybrid_result(hybrid, key) for key in hybrid_result(hybrid).sides.measures]
    except NothingToCompare:
        results = []
    return FILES[form](results, hybrid)
