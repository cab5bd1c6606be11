"""What leaving a team's nuggets out changes in the scores of a condition: sentences, tables and a figure."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.report import quantity
from assessor.formats.tables import write_table
from assessor.scores.reusability import TeamRow, WithoutTeams, team_rows
from assessor.scores.score_source import scoring_of
from metaeval.kept_results import kept_result
from metaeval.stats.means import DIGITS, Policy
from metaeval.stats.measures import Measure
from metaeval.stats.statistic import Statistic

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

COLUMNS = (
    "team",
    "runs",
    "nuggets_left_out",
    "topics_left",
    "change",
    "change_of_others",
    "places_lost",
    "run",
    "tau",
    "why",
)


class Reusability(NamedTuple):
    """Teams by the most places that a run of theirs loses, by one measure.

    nuggets: what they are called, "nuggets" or "questions".
    """

    scores: WithoutTeams
    measure: Measure
    nuggets: str
    rows: list[TeamRow]

    @property
    def left_out(self) -> list[TeamRow]:
        """The teams with which any nugget goes."""
        return [row for row in self.rows if row.left_out]

    @property
    def headline(self) -> str:
        """Name the run that loses most places without the nuggets of its team."""
        if self.scores.unattested == self.scores.nuggets:
            return f"Nothing says where the {self.nuggets} come from, so no team can be left out."
        if not self.left_out:
            return f"No team alone brought any of the {self.nuggets}: leaving one out changes no score."
        row, teams = self.rows[0], quantity(len(self.left_out), "teams")
        if (row.found.places.value or 0) <= 0:
            return (
                f"No run loses a place without the {self.nuggets} that its own team brought ({teams} left out in turn)."
            )
        return (
            f"{row.run} loses {_places(row)} without the {quantity(row.left_out, self.nuggets)} that {row.team} "
            f"brought: the largest loss of {teams}."
        )

    @property
    def statement(self) -> str:
        """Say for a paper what was done and what came out; "" where nothing can be left out."""
        if not self.left_out:
            return ""
        taus = [row.found.tau.value for row in self.left_out if row.found.tau.value is not None]
        own, others = (_mean(self.left_out, name) for name in ("own", "others"))
        largest = max((row for row in self.rows if row.run), key=lambda row: row.found.places.value or 0, default=None)
        lost = 0 if largest is None else max(0, int(largest.found.places.value or 0))
        went, stayed = (quantity(one, self.nuggets) for one in (sum(self.scores.left_out), self.scores.unattested))
        parts = [
            f"For each of {quantity(len(self.left_out), 'teams')} we left out the {self.nuggets} that it "
            f"brought, going by {self.scores.basis} ({went} of {self.scores.nuggets:,}), and scored all runs again."
        ]
        if self.scores.unattested:
            parts.append(f"{stayed.capitalize()} without such a source stayed.")
        if taus:
            by = f"the rankings of runs by {self.measure.in_words} with and without them"
            parts.append(f"Kendall's tau between {by} was at least {min(taus):.3f}.")
        most = f"more than {quantity(lost, 'places')}" if lost else "a place"
        parts.append(f"No team's own run lost {most}.")
        if own is not None and others is not None:
            means = f"{_signed(own)}, that of the other runs by {_signed(others)}"
            parts.append(f"On average a team's own score changed by {means}.")
        return " ".join(parts)

    @property
    def fairness(self) -> str:
        """Say what a system that brought nothing would have lost; "" where that can't be told."""
        gaps = [
            row.found.own.value - row.found.others.value
            for row in self.left_out
            if row.found.own.value is not None and row.found.others.value is not None
        ]
        if not gaps:
            return ""
        gap = float(np.mean(gaps))
        teams = quantity(len(gaps), "teams")
        if round(gap, self.measure.digits) >= 0:
            return f"Left out in turn, {teams} lose no score against the others: a new system is at no disadvantage."
        return (
            f"A new system that brought no {self.nuggets} would score {-gap:.{self.measure.digits}f} less against the "
            f"others than a team that did (mean of {teams})."
        )


def kept_reusability(condition: Condition, policy: Policy, measure: str) -> Reusability | None:
    """Return what reusability() does, computed anew when the scores have changed."""
    return kept_result([condition], f"reusability.{policy}.{measure}", lambda: reusability(condition, policy, measure))


def reusability(condition: Condition, policy: Policy, measure: str) -> Reusability | None:
    """Leave one team after another out of a condition; measure: by its key. None where its labels are of no nuggets."""
    scoring = scoring_of(condition.kind)
    scores = scoring.without_teams(condition, policy)
    if scores is None or condition.nuggets is None:
        return None
    at = scoring.measures.keys.index(measure)
    rows = sorted(team_rows(scores, at), key=lambda row: (-_lost(row), row.team))
    return Reusability(scores, scoring.measures.all[at], kind_of(condition.nuggets).counted, rows)


def _lost(row: TeamRow) -> float:
    value = row.found.places.value
    return -np.inf if value is None else value


def _places(row: TeamRow) -> str:
    return quantity(int(row.found.places.value or 0), "places")


def _mean(rows: Sequence[TeamRow], name: str) -> float | None:
    values = [value for row in rows if (value := getattr(row.found, name).value) is not None]
    return float(np.mean(values)) if values else None


def _signed(value: float) -> str:
    return f"{value:+.4f}"


def csv_lines(found: Reusability) -> Iterator[str]:
    """Yield the teams as CSV; what is undefined is empty, with the reason."""
    return write_table(COLUMNS, map(_row, found.rows))


def _row(row: TeamRow) -> Sequence[object]:
    own, others, places, tau = map(_number, _values(row))
    why = row.found.own.why or row.found.others.why or row.found.tau.why
    return (row.team, row.runs, row.left_out, row.topics, own, others, places, row.run, tau, why)


def _number(value: Statistic) -> float | None:
    return None if value.value is None else round(value.value, DIGITS)


def latex_lines(found: Reusability) -> Iterator[str]:
    """Yield the teams with which a nugget goes as a table for a paper (booktabs)."""
    caption = (
        f"Scores by {as_latex(found.measure.in_words)} without the {found.nuggets} that a team brought, going by "
        f"{as_latex(found.scores.basis)}"
    )
    head = ("Team", "Runs", "Left out", r"$\Delta$ own", r"$\Delta$ others", "Places lost", r"$\tau$")
    rows = (
        latex.row(
            (
                as_latex(row.team),
                f"{row.runs}",
                f"{row.left_out}",
                *(_printed(value, digits) for value, digits in zip(_values(row), (4, 4, 0, 3), strict=True)),
            )
        )
        for row in found.left_out
    )
    return latex.table(caption, "lrrrrrr", head, rows)


def _values(row: TeamRow) -> tuple[Statistic, ...]:
    return row.found.own, row.found.others, row.found.places, row.found.tau


def _printed(value: Statistic, digits: int) -> str:
    return "--" if value.value is None else f"${value.value:.{digits}f}$"


def team_figure(found: Reusability) -> "NamedFigure":
    """Return tau of all runs by the team that is left out."""
    from metaeval.charts.figures import NamedFigure
    from metaeval.charts.reusability import tau_by_team

    taus = {row.team: row.found.tau.value for row in found.left_out}
    title = f"τ with and without a team's {found.nuggets}"
    return NamedFigure("teams", f"{title}, {found.measure.in_words}", tau_by_team(taus, title=title))
