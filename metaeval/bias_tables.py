"""What a judge favours as one table: on the page, and as files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assessor.exportables import ChoiceError
from assessor.formats import latex
from assessor.formats.families import FAMILIES
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from metaeval.biases import Bias, kept_bias
from metaeval.inputs import NothingToCompare
from metaeval.measures import measure_named
from metaeval.models import Comparison
from metaeval.stats.bias import Effect, PermutationTest

_COLUMNS = (
    *("reference", "judge", "measure", "bias", "family", "n", "reliability", "slope", "difference", "effect"),
    *("low", "high", "p", "least_effect", "why"),
)
_UNDEFINED = "all are alike, or the reference's scores tell them apart already, or no teams can change places"
_OF_FAMILY = ("difference", "family", "matched")


class BiasRow(NamedTuple):
    """A line of the table: what is tested, over how many of what, and what came out; None where there is none.

    name: in files; label: on pages. families: of runs, separated by blanks, where judges are tested by several, each by
    its own; else that of the page. difference: of scores, or of what is left of them after the reference's; effect:
    fitted together with these; of labels, which count 0 to 1, where n is of items.
    """

    name: str
    label: str
    n: int
    of: str
    families: str = ""
    reliability: float | None = None
    slope: float | None = None
    difference: float | None = None
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    least: float | None = None
    why: str = ""


def bias_rows(found: Bias) -> list[BiasRow]:
    """Return the table of what a judge favours; without enough runs of a family, what is known besides."""
    runs, rows = found.own + found.others, []
    if found.difference:
        rows.append(_of_test("difference", "Plain difference", found.difference, runs, "runs"))
    rows += [_of_effect("family", f"Beyond quality, {_given(one)}", one) for one in found.effects]
    if found.matched:
        label = "Among answers that are as good and as long"
        rows.append(_of_test("matched", label, found.matched.test, found.matched.answers, "answers"))
    if found.interaction and found.interaction.families:
        rows += [
            BiasRow(
                "judges",
                f"Runs by {FAMILIES[one.family]}, against the other judge",
                one.runs,
                "runs",
                one.family,
                difference=one.value,
            )
            for one in found.interaction.families
        ]
        families = " ".join(one.family for one in found.interaction.families)
        total = _of_test("judges", "Sum over families", found.interaction.test, runs, "runs")
        rows.append(total._replace(families=families))
    rows += [_of_effect("length", f"Twice as long, {_given(one)}", one) for one in found.lengths]
    if found.places:
        label = f"One place further down, of {found.places.batch} in a call"
        rows.append(_of_test("place", label, found.places.test, found.places.items, "items"))
    return rows


def _given(effect: Effect) -> str:
    return "scores of the reference taken as exact" if effect.reliability == 1 else "their error allowed for"


def _of_test(name: str, label: str, test: PermutationTest, n: int, of: str) -> BiasRow:
    value, p, least = map(_number, test)
    return BiasRow(name, label, n, of, difference=value, p=p, least=least, why="" if p is not None else _UNDEFINED)


def _of_effect(name: str, label: str, one: Effect) -> BiasRow:
    slope, difference, effect, p, least = map(_number, (one.slope, one.residual, one.effect, one.p, one.least))
    why = one.bounds.why if p is not None else _UNDEFINED
    bounds = one.bounds.low, one.bounds.high
    figures = one.reliability, slope, difference, effect, *bounds, p, least
    return BiasRow(name, label, one.runs, "runs", "", *figures, why)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def table_lines(comparison: Comparison, form: str, asked: Mapping[str, str]) -> Iterator[str]:
    """Yield the table of what a comparison's judge favours as "csv" or "tex". Raises ChoiceError."""
    try:
        found = kept_bias(comparison, asked["measure"], asked["family"])
    except NothingToCompare as error:
        raise ChoiceError(str(error)) from error
    rows = bias_rows(found)
    if form == "csv":
        return write_table(_COLUMNS, (_file_row(found, row) for row in rows))
    head = ("Bias", "$n$", r"$\rho$", "Difference", "Effect", "Interval", "$p$", "Least")
    caption = (
        f"What {as_latex(found.names[1])} favours beyond the scores of {as_latex(found.names[0])}, by "
        f"{as_latex(measure_named(found.measure).in_words)}: runs written by {as_latex(FAMILIES[found.family])}, length"
    )
    return latex.table(caption, "lrrrrrrr", head, map(_latex_row, rows))


def _file_row(found: Bias, row: BiasRow) -> Sequence[object]:
    figures = (row.slope, row.difference, row.effect, row.low, row.high, row.p, row.least)
    family = found.family if row.name in _OF_FAMILY else row.families
    return *found.names, found.measure, row.name, family, row.n, row.reliability, *figures, row.why


def _latex_row(row: BiasRow) -> str:
    bounds = "--" if row.low is None or row.high is None else f"$[{row.low:.3f}, {row.high:.3f}]$"
    figures = [
        "--" if one is None else f"${one:.3f}$"
        for one in (row.reliability, row.difference, row.effect, row.p, row.least)
    ]
    return latex.row((as_latex(row.label), f"{row.n}", *figures[:3], bounds, *figures[3:]))
