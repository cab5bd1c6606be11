"""What a condition's scores, its people's time and its models' jobs tell about the next edition of a track."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Sum

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition
from assessor.formats.tables import write_table
from assessor.labels.manual_setups import SECOND
from assessor.llm.models import Job, Unit
from assessor.plan.hours import HOUR
from assessor.plan.workload import workload
from assessor.scores.cache import condition_scores
from assessor.scores.loading import Scores
from assessor.scores.tables import systems_in
from metaeval.kept_results import kept_result
from metaeval.stats.bootstrap import Interval
from metaeval.stats.generalizability import (
    AssessorComponents,
    Components,
    Criterion,
    assessor_components,
    dependability,
    expected_tau,
    generalizability,
    generalizability_interval,
    pair_spread,
    smallest_difference,
    split_half_tau,
    variance_components,
    with_second_opinions,
)
from metaeval.stats.layout import Cells, lay_out
from metaeval.stats.means import COMPLETE, Figures

SEED = 2026  # of the halves of topics
LEAST_DOUBLED = 10  # topics with a second opinion, from which on variances between assessors are estimated
MOST_TOPICS, MOST_RUNS, MOST_ASSESSORS = 2_000, 1_000, 5
_DRAWS = 1_000
_USUAL = (10, 20, 30, 50, 75, 100, 150, 200, 300)  # numbers of topics
_LEAST_DRAWN, _POINTS = 5, 24  # topics where curves begin, and points of a curve
_E_RHO2 = "E\N{GREEK SMALL LETTER RHO}\N{SUPERSCRIPT TWO}"
ONE_ASSESSOR = (
    "Each topic has one assessor, so what assessors differ by is inside the variance of topics and the residual. To "
    "tell it apart, have a second person label answers of at least {least} topics; {found}."
)


class NoPlan(Exception):
    """The scores tell nothing about another edition; the text says why."""


class Basis(NamedTuple):
    """What the scores of a condition tell, by one measure, over runs and topics with a score in each cell.

    spread: between what 90 % of pairs of runs have the variance of their difference, relative to the mean of all.
    halves: tau of runs on random halves of the topics. of_assessors: None where why_not says why. zeros: how many cells
    are 0 as nothing was submitted; runs_left_out, topics_left_out: how many lack scores.
    """

    components: Components
    spread: tuple[float, float]
    halves: Interval
    of_assessors: AssessorComponents | None
    why_not: str
    zeros: int
    runs_left_out: int
    topics_left_out: int

    @property
    def half(self) -> int:
        """The topics of each half."""
        return self.components.topics // 2


class PerTopic(NamedTuple):
    """What a topic takes, in hours or money: for its nuggets, and for the labels of so many runs."""

    nuggets: float
    labels: float
    runs: int

    def of(self, runs: int) -> float:
        """Return what a topic with so many runs takes."""
        return self.nuggets + self.of_labels(runs)

    def of_labels(self, runs: int) -> float:
        """Return what its labels alone take."""
        return self.labels * runs / self.runs


class Choices(NamedTuple):
    """What the next edition is to be like.

    share: of the topics that have several assessors, 0 to 1, and how many these have. hours, cost: of a topic that one
    assessor judges, and of the models' side of a topic; None: as measured.
    """

    topics: int
    runs: int
    share: float = 0.0
    assessors: int = 2
    hours: float | None = None
    cost: float | None = None


class Row(NamedTuple):
    """What so many topics give and take. low, high: of generalizability. hours, cost: None where nothing is known."""

    topics: int
    runs: int
    generalizability: float
    dependability: float
    tau: float
    low: float
    high: float
    hsd: float
    t: float
    z: float
    hours: float | None
    cost: float | None


def basis(condition: Condition, measure: str, cells: Cells) -> Basis:
    """Return what the scores of a condition tell by a measure, by its key. Raises NoPlan."""
    seconds = list(
        condition.campaign.conditions.filter(manual_setup__of=condition, manual_setup__purpose=SECOND).order_by("pk")
    )
    found = kept_result(
        [condition, *seconds], f"next_edition.{cells}.{measure}", lambda: _basis(condition, seconds, measure, cells)
    )
    if isinstance(found, str):
        raise NoPlan(found)
    return found


def _basis(condition: Condition, seconds: Sequence[Condition], measure: str, cells: Cells) -> Basis | str:
    """Return what basis() does, or why there is none."""
    found = condition_scores(condition)
    at, systems = found.measures.keys.index(measure), np.flatnonzero(systems_in(found))
    scores, states = found.scores[systems][..., at], found.states[systems]
    layout = lay_out(scores, states, cells)
    is_whole = ~np.isnan(layout.scores).any(axis=0)
    complete = layout.scores[:, is_whole]
    if min(complete.shape) < 2:
        return "A plan needs two runs, and two topics on which each run has a score."
    components = variance_components(complete)
    if not components.residual:
        return "No two runs differ by more on one topic than on another, so more topics would change nothing."
    of_assessors, why_not = _of_assessors(found, at, seconds, components)
    kept = np.ix_(layout.runs, layout.topics[is_whole])
    return Basis(
        components,
        pair_spread(complete),
        split_half_tau(complete, seed=SEED, draws=_DRAWS),
        of_assessors,
        why_not,
        int((states[kept] != COMPLETE).sum()),
        len(scores) - len(complete),
        scores.shape[1] - complete.shape[1],
    )


def _of_assessors(
    found: Scores, at: int, seconds: Sequence[Condition], components: Components
) -> tuple[AssessorComponents | None, str]:
    """Return the components of the design with assessors in topics, or None and why."""
    first, second = _judged(found, found, at), np.full(found.states.shape, np.nan)
    for one in seconds:
        second = np.where(np.isnan(second), _judged(found, condition_scores(one), at), second)
    doubled = int((~np.isnan(first - second)).any(axis=0).sum())
    if doubled < LEAST_DOUBLED:
        there = f"{doubled} topic{' has' if doubled == 1 else 's have'} one now" if doubled else "none has one now"
        return None, ONE_ASSESSOR.format(least=LEAST_DOUBLED, found=there)
    try:
        return assessor_components(components, first, second), ""
    except ValueError as error:
        return None, f"{str(error).capitalize()}."


def _judged(names: Scores, found: Scores, at: int) -> Figures:
    """Return the scores of answers that have all their labels, NaN for others, by the runs and topics of `names`."""
    runs = {run.pk: place for place, run in enumerate(found.runs)}
    topics = {topic.pk: place for place, topic in enumerate(found.topics)}
    cells = np.full((len(names.runs), len(names.topics)), np.nan)
    rows = [place for place, run in enumerate(names.runs) if run.pk in runs and not run.is_control]
    columns = [place for place, topic in enumerate(names.topics) if topic.pk in topics]
    there = np.ix_(
        [runs[names.runs[place].pk] for place in rows], [topics[names.topics[place].pk] for place in columns]
    )
    cells[np.ix_(rows, columns)] = np.where(found.states[there] == COMPLETE, found.scores[there][..., at], np.nan)
    return cells


def hours_per_topic(condition: Condition, runs: int) -> PerTopic:
    """Return the hours of people for a topic, by the medians of finished tasks or as published; 0 where unknown."""
    parts = [one for one in (condition, condition.nuggets) if one]
    known = workload(condition.campaign, [], also=parts).known
    hours = {one.pk: pace.topic / HOUR for one in parts if (pace := known.get(one.pk))}
    return _per_topic(parts, hours, runs)


def cost_per_topic(condition: Condition, runs: int) -> PerTopic:
    """Return what the models' jobs cost for a topic: those of the condition, its nuggets and the labels shown."""
    parts = [one for one in (condition, condition.nuggets, condition.shown) if one]
    of = {"condition__in": [one.pk for one in parts]}
    money = dict(Job.objects.filter(**of).order_by().values_list("condition").annotate(Sum("cost")))
    units = Unit.objects.filter(job__condition__in=of["condition__in"], state=Unit.State.DONE).order_by()
    topics = dict(units.values_list("job__condition").annotate(Count("topic", distinct=True)))
    costs = {pk: float(cost) / topics[pk] for pk, cost in money.items() if topics.get(pk)}
    return _per_topic(parts, costs, runs)


def _per_topic(parts: Iterable[Condition], takes: dict[int, float], runs: int) -> PerTopic:
    nuggets = labels = 0.0
    for one in parts:
        if kind_of(one).makes_nuggets:
            nuggets += takes.get(one.pk, 0.0)
        else:
            labels += takes.get(one.pk, 0.0)
    return PerTopic(nuggets, labels, runs)


class Plan(NamedTuple):
    """The next edition as chosen. hours, cost: of a topic, as measured."""

    basis: Basis
    choices: Choices
    hours: PerTopic
    cost: PerTopic

    def rows(self, numbers: Iterable[int]) -> list[Row]:
        """Return what these numbers of topics give and take, in ascending order."""
        components, of_assessors, choices = self.basis.components, self.basis.of_assessors, self.choices
        if of_assessors:
            components = with_second_opinions(
                components, of_assessors, share=choices.share, assessors=choices.assessors
            )
        in_order = sorted(set(numbers))
        differences = [smallest_difference(components, in_order, choices.runs, one).tolist() for one in Criterion]
        hours, cost = self.hours_each, self.cost_each
        rows = []
        for number, hsd, t, z in zip(in_order, *differences, strict=True):
            low, high = generalizability_interval(components, number)
            row = Row(
                topics=number,
                runs=choices.runs,
                generalizability=generalizability(components, number).value or 0.0,
                dependability=dependability(components, number).value or 0.0,
                tau=expected_tau(components, number).value or 0.0,
                low=low,
                high=high,
                hsd=hsd,
                t=t,
                z=z,
                hours=None if hours is None else hours * number,
                cost=None if cost is None else cost * number,
            )
            rows.append(row)
        return rows

    @property
    def hours_each(self) -> float | None:
        """People's hours for a topic, second opinions included: these take the labels' part again. None: unknown."""
        usual, choices = self.hours.of(self.choices.runs), self.choices
        each = usual if choices.hours is None else choices.hours
        of_labels = self.hours.of_labels(choices.runs) / usual if usual else 1.0
        return each * (1 + choices.share * (choices.assessors - 1) * of_labels) or None

    @property
    def cost_each(self) -> float | None:
        """What the models' side of a topic costs; None where it is unknown."""
        return self.cost.of(self.choices.runs) or None if self.choices.cost is None else self.choices.cost

    @property
    def table(self) -> list[Row]:
        """The usual numbers of topics, today's and the chosen one."""
        return self.rows([*_USUAL, self.basis.components.topics, self.choices.topics])

    @property
    def figure(self) -> dict[str, Any]:
        """Curves over the number of topics as one figure: what is told apart, and how reliable scores are."""
        from metaeval.charts.figures import planning_figure
        from metaeval.charts.joint import joint_figure

        today, chosen = self.basis.components.topics, self.choices.topics
        most = max(100, 2 * today, round(1.25 * chosen))
        rows = self.rows([*np.geomspace(_LEAST_DRAWN, most, _POINTS).round().astype(int).tolist(), today, chosen])
        panels = (
            ("Smallest difference", {"all pairs (HSD)": "hsd", "one pair (t)": "t", "one pair (z)": "z"}, None),
            ("Reliability", {_E_RHO2: "generalizability", "Φ": "dependability", "τ of two editions": "tau"}, 1.0),
        )
        drawn = [
            planning_figure(
                [row.topics for row in rows],
                {name: [round(getattr(row, column), 6) for row in rows] for name, column in curves.items()},
                title=title,
                chosen=chosen,
                top=top,
            ).to_dict(validate=False)
            for title, curves, top in panels
        ]
        return joint_figure(drawn, independent=("color", "strokeDash"))


def make_plan(condition: Condition, found: Basis, choices: Choices) -> Plan:
    """Plan the next edition by what a condition's scores tell."""
    runs = found.components.runs
    return Plan(found, choices, hours_per_topic(condition, runs), cost_per_topic(condition, runs))


def as_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Return the lines of a table of rows; figures with six digits after the point."""
    return write_table(Row._fields, ([_shown(value) for value in row] for row in rows))


def _shown(value: float | None) -> float | None:
    return round(value, 6) if isinstance(value, float) else value
