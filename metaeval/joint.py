"""Comparisons with the same reference: their agreement in one table, and their figures in one."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models.functions import Length

from assessor.campaigns.models import Campaign
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from assessor.studies.queries import Registrations
from metaeval.charts.joint import joint_figure
from metaeval.charts.rendering import name_of_measure
from metaeval.inputs import read_table
from metaeval.measures import measure_named
from metaeval.models import Figure, ScoreTable
from metaeval.queries import Agreement, Taus, agreements, newest_results
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure

SCATTERS, MATRICES = "scatters", "matrices"
TITLES = {SCATTERS: "Scores of runs on both sides", MATRICES: "Confusion matrices of labels"}
_COLUMNS = (
    *("reference", "candidate", "measure", "tau_run", "low", "high", "tau_topic", "tau_cell", "kappa", "equal"),
    "comparison",
)


SORTS = ("run", "topic", "cell", "kappa", "match")  # the τ of runs, within topics, of cells; κ and equal labels


_SMALL = 100_000  # characters of a score table that is looked into for names of candidates


class ImportedColumn(NamedTuple):
    """A figure of candidates that a score table has. key: as addresses name it; values: by candidate's name."""

    key: str
    measure: str
    table: str
    values: dict[str, float]


class JointRow(NamedTuple):
    """A candidate by a measure. imported: its figures in score tables, by the columns' keys."""

    agreement: Agreement
    taus: Taus
    imported: Mapping[str, float] = {}

    @property
    def measure(self) -> Measure:
        return measure_named(self.taus.measure)

    def figure(self, name: str) -> float | None:
        """Return one of SORTS, or of an imported column."""
        if name not in SORTS:
            return self.imported.get(name)
        value: float | None = getattr(self.agreement if name in ("kappa", "match") else self.taus, name)
        return value


def with_reference(campaign: Campaign, side: str) -> list[Agreement]:
    """Return what the computed comparisons with a reference came to, the oldest first. side: its key."""
    return _by_reference(campaign).get(side, [])


def references(campaign: Campaign) -> dict[str, list[Agreement]]:
    """Return the references of several computed comparisons, by key, each with what these came to."""
    return {side: some for side, some in _by_reference(campaign).items() if len(some) > 1}


def _by_reference(campaign: Campaign) -> dict[str, list[Agreement]]:
    found: dict[str, list[Agreement]] = {}
    for one in sorted(agreements(campaign), key=lambda one: (one.reference_name, one.comparison)):
        found.setdefault(one.side, []).append(one)
    return found


def measures_of(found: Iterable[Agreement]) -> list[Measure]:
    """Return the measures by which any of them compared, in their order."""
    return [measure_named(key) for key in dict.fromkeys(taus.measure for one in found for taus in one.taus)]


def imported_columns(campaign: Campaign, candidates: Iterable[str]) -> list[ImportedColumn]:
    """Return the measures of score tables whose runs are candidates, by their names, with "_" for blanks.

    So a statistic that is not computed here can stand beside those that are.
    """
    names = {"_".join(name.split()): name for name in candidates}
    tables = ScoreTable.objects.filter(campaign=campaign).alias(size=Length("content")).filter(size__lte=_SMALL)
    columns = []
    for table in tables.order_by("pk"):
        scores = read_table(table, Policy.ANSWERED)
        known = [(at, names[run]) for at, run in enumerate(scores.runs) if run in names]
        for place, measure in enumerate(scores.measures if known else ()):
            values = {name: float(scores.means[at, place]) for at, name in known}
            there = {name: value for name, value in values.items() if not math.isnan(value)}
            columns.append(ImportedColumn(f"{table.pk}.{measure}", measure, table.name, there))
    return columns


def joint_rows(
    found: Iterable[Agreement], measure: str = "", by: str = SORTS[0], columns: Sequence[ImportedColumn] = ()
) -> list[JointRow]:
    """Return a row for each candidate and measure, or for one measure alone; the highest of a figure first.

    by: one of SORTS, or the key of one of the columns. Of equal ones it is that with the higher τ of runs, within
    topics, of cells, then κ.
    """

    def imported(one: Agreement) -> dict[str, float]:
        return {of.key: of.values[one.candidate_name] for of in columns if one.candidate_name in of.values}

    rows = [JointRow(one, taus, imported(one)) for one in found for taus in one.taus if measure in ("", taus.measure)]

    def place(row: JointRow) -> list[float]:
        figures = [row.figure(name) for name in (by, *SORTS)]
        return [-2.0 if value is None else value for value in figures]

    return sorted(rows, key=place, reverse=True)


def table_lines(campaign: Campaign, form: str) -> Iterator[str]:
    """Yield the agreement of all computed comparisons: as "csv", or as "tex" with a table for each reference."""
    by_side, registrations = _by_reference(campaign), Registrations(campaign)
    if form == "csv":
        columns = imported_columns(campaign, [one.candidate_name for found in by_side.values() for one in found])
        registered = (*_COLUMNS, "registration") if registrations else _COLUMNS
        header = (*registered, *(f"{one.measure} imported from {one.table}" for one in columns))
        rows = (row for found in by_side.values() for row in joint_rows(found, columns=columns))
        return write_table(
            header,
            ((*_cells(row, registrations), *(row.figure(one.key) for one in columns)) for row in rows),
        )
    return (line for found in by_side.values() for line in _as_latex(found, registrations))


def _cells(row: JointRow, registrations: Registrations) -> Sequence[object]:
    one, taus = row.agreement, row.taus
    figures = (taus.run, taus.low, taus.high, taus.topic, taus.cell, one.kappa, one.match)
    status = [registrations.status(one.reference, one.candidate)] if registrations else []
    return one.reference_name, one.candidate_name, taus.measure, *figures, one.comparison, *status


def _as_latex(found: Sequence[Agreement], registrations: Registrations) -> Iterator[str]:
    rows = (
        latex.row(
            (
                as_latex(row.agreement.candidate_name) + _mark(row.agreement, registrations),
                row.measure.latex,
                _figure(row.taus.run) + _bounds(row.taus),
                *(_figure(value) for value in (row.taus.topic, row.taus.cell, row.agreement.kappa)),
            )
        )
        for row in joint_rows(found)
    )
    dagger = "; $^{\\dagger}$ registered before the first label, all others exploratory" if registrations else ""
    return latex.table(
        f"Agreement with {as_latex(found[0].reference_name)}: Kendall's $\\tau$ (b) of runs, with 95\\,\\% bootstrap "
        "intervals over topics, within topics (mean) and of cells, and Cohen's $\\kappa$ of labels" + dagger,
        "llrrrr",
        ("Candidate", "Measure", "Runs", "Topics", "Cells", "$\\kappa$"),
        rows,
    )


def _mark(one: Agreement, registrations: Registrations) -> str:
    return "$^{\\dagger}$" if registrations.covering(one.reference, one.candidate) else ""


def _figure(value: float | None) -> str:
    return "--" if value is None else f"{value:.3f}"


def _bounds(taus: Taus) -> str:
    return "" if taus.low is None or taus.high is None else f" [{taus.low:.3f}, {taus.high:.3f}]"


def joint_specification(
    found: Sequence[Agreement], name: str, measure: str = "", *, swap: bool = False
) -> dict[str, Any] | None:
    """Return SCATTERS of comparisons by a measure, or their MATRICES, as one figure; None where there is none."""
    figures = _figures(found, name, measure)
    if not figures:
        return None
    if name == MATRICES:
        return joint_figure(figures, shared=("fillOpacity",))
    return joint_figure(figures, shared=("x", "y", "color", "shape"), swap=swap)


def _figures(found: Sequence[Agreement], name: str, measure: str) -> list[Mapping[str, Any]]:
    newest = newest_results(comparison__in=[one.comparison for one in found])
    wanted = Figure.objects.filter(calculation__in=newest).order_by("calculation__comparison_id")
    if name == MATRICES:
        return [one.specification for one in wanted.filter(name="labels")]
    ending = f"-{name_of_measure(measure)}"
    return [one.specification for one in wanted.filter(name__startswith="scatter-", name__endswith=ending)]
