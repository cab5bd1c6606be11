"""What came of a sensitivity study as files."""

from collections.abc import Callable, Iterator, Sequence

from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import is_crossed
from metaeval.sensitivity import SensitivityResult, changes, sensitivity_result
from metaeval.serializers import Json, agreement_json, number, statistic_json


def variant_lines(found: SensitivityResult) -> Iterator[str]:
    """Yield a row for each variant as CSV: what it labels otherwise than the base, and how it ranks runs."""
    columns = ("variant", "name", "factors", "condition", "items", "flip_rate", "low", "high", "more_lenient")
    more = ("stricter", "kappa", "kappa_linear", "mean_change", "largest_change", "tau_base", "tau_people", "why")
    return write_table((*columns, *more), (_variant_row(found, at) for at in range(len(found.variants))))


def _variant_row(found: SensitivityResult, at: int) -> Sequence[object]:
    one, change = found.variants[at], changes(found, at)
    start = (one.number, one.name, " + ".join(one.factors), one.condition)
    end = (*(number(value) for value in change), number(one.tau.value), number(one.with_people.value))
    if one.flips is None:
        return (*start, *[None] * 8, *end, "")
    rate, of = one.flips
    rates = (of.above, of.below, of.unweighted, of.linear)
    why = "; ".join(dict.fromkeys(value.why for value in (rate, *rates, one.tau) if value.why))
    figures = (number(rate.value), number(rate.low), number(rate.high), *(number(value.value) for value in rates))
    return (*start, rate.n, *figures, *end, why)


def run_lines(found: SensitivityResult) -> Iterator[str]:
    """Yield a row for each run under each variant as CSV: its mean and rank."""
    rows = (
        (one.number, one.name, run, number(float(mean)), number(float(mean - base)), number(float(rank)))
        for one, means, ranks in zip(found.variants, found.means, found.ranks, strict=True)
        for run, mean, base, rank in zip(found.runs, means, found.means[0], ranks, strict=True)
    )
    return write_table(("variant", "name", "run", "mean", "change", "rank"), rows)


def pair_lines(found: SensitivityResult) -> Iterator[str]:
    """Yield a row for each pair of runs as CSV: under how many variants each is better, and whether it is robust."""
    rows = []
    for first in range(len(found.runs)):
        for second in range(first + 1, len(found.runs)):
            one, other = found.means[:, first], found.means[:, second]
            robust = bool(found.order[first, second] or found.order[second, first])
            wins = int((one > other).sum()), int((other > one).sum())
            rows.append((found.runs[first], found.runs[second], *wins, len(found.variants), int(robust)))
    return write_table(("first", "second", "first_better", "second_better", "variants", "robust"), rows)


def as_json(study: Sensitivity, found: SensitivityResult) -> Json:
    """Return all of it as JSON has it, with the design."""
    return {
        "study": study.name,
        "kind": study.kind,
        "nuggets": study.nuggets.name,
        "design": "all levels combined" if is_crossed(study.factors) else "one factor at a time",
        "factors": study.factors,
        "seed": study.seed,
        "topics": study.topics,
        "runs": study.runs,
        "measure": found.measure,
        "people": found.people or None,
        "cells": found.cells,
        "items": found.items,
        "variants": [
            {
                "number": one.number,
                "name": one.name,
                "factors": list(one.factors),
                "condition": one.condition,
                "flip_rate": one.flips.rate._asdict() if one.flips else None,
                "agreement": agreement_json(one.flips.agreement) if one.flips else None,
                "tau_base": statistic_json(one.tau),
                "tau_people": statistic_json(one.with_people),
                "means": [number(float(mean)) for mean in found.means[at]],
                "ranks": [number(float(rank)) for rank in found.ranks[at]],
            }
            for at, one in enumerate(found.variants)
        ],
        "spread": [
            {
                "factor": one.factor,
                "levels": one.levels,
                "run": number(one.spread.run),
                "variant": number(one.spread.variant),
                "run_variant": number(one.spread.run_variant),
                "share": statistic_json(one.spread.share),
            }
            for one in found.shares
        ],
        "share_of_topics": statistic_json(found.of_topics),
        "pairs": found.pairs,
        "robust_pairs": found.robust,
    }


TABLES: dict[str, Callable[[Sensitivity, SensitivityResult], Iterator[str]]] = {
    "variants.csv": lambda study, found: variant_lines(found),
    "runs.csv": lambda study, found: run_lines(found),
    "pairs.csv": lambda study, found: pair_lines(found),
    "json": lambda study, found: iter([to_json(as_json(study, found)) + "\n"]),
}


def file_lines(study: Sensitivity, form: str, measure: str) -> Iterator[str]:
    """Return the lines of a file of a study."""
    return TABLES[form](study, sensitivity_result(study, measure))
