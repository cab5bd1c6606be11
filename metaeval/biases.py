"""What a judge's scores favour besides quality: runs of its own family, long answers, what stands first in a list."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, Judge
from assessor.formats.families import FAMILIES
from assessor.labels.label_kind import label_kind
from assessor.studies.panels import one_family
from metaeval.headline import names_of_sides
from metaeval.inputs import (
    Input,
    NothingToCompare,
    load_input,
    match_inputs,
    names_of,
    restrict,
)
from metaeval.item_analysis import even_values
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.label_pairs import match_labels
from metaeval.measures import measure_labels, measure_named
from metaeval.models import Comparison, ScoreTable
from metaeval.queries import agreements, comparisons_of, restriction_of
from metaeval.stats.bias import (
    PERMUTATIONS,
    Effect,
    Interaction,
    Orders,
    PermutationTest,
    judge_interaction,
    matched_residuals,
    place_test,
    slope_test,
    team_orders,
    trait_effect,
)
from metaeval.stats.generalizability import generalizability, variance_components
from metaeval.stats.levels import run_means
from metaeval.stats.means import Figures, Policy
from metaeval.stats.measures import LENGTH
from metaeval.stats.score_matrix import MatchedScores, ScoreMatrix
from metaeval.topic_diagnosis import diagnosed_sides

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

LEAST_RUNS = 2  # of a family, and of others
_MOST_CELLS = 5_000_000  # permuted scores at once: some 100 MB
Flags = npt.NDArray[np.bool_]


class Sides(NamedTuple):
    """The scores of both sides, and who wrote the runs. means: (runs,) of the measure, of reference and judge.

    families: of each run, none where unknown; teams: of each, itself where unknown.
    """

    scores: MatchedScores
    measure: int
    means: tuple[Figures, Figures]
    families: list[list[str]]
    teams: list[str]

    @property
    def cells(self) -> tuple[Figures, Figures]:
        """The scores of reference and judge by the measure, (runs, topics)."""
        reference, judge = (one.cells[..., self.measure] for one in (self.scores.reference, self.scores.candidate))
        return reference, judge

    @property
    def has_topics(self) -> bool:
        """Whether scores of topics are known, and not means alone."""
        return bool(self.scores.reference.topics)


class Places(NamedTuple):
    """How labels go with the places of so many items in a call, which has up to `batch` of them."""

    test: PermutationTest
    items: int
    batch: int


class Matched(NamedTuple):
    """The test of a family among answers that are as good and as long, of so many answers."""

    test: PermutationTest
    answers: int


class Bias(NamedTuple):
    """What a judge favours, by one measure and of one family.

    judge, reference: what sentences call them; names: what tables call reference and judge. own, others, unknown: runs
    of the family, of others, and those of which nobody said who wrote them. is_own: whether it is the judge's family;
    None where that is unknown. by_people: whether the reference is no model's.

    Only with enough runs of both, and people: difference: of plain scores; effects: of the family, with people's scores
    taken as exact, then with their error allowed for, where it can be estimated; matched. With another judge instead of
    people: interaction. lengths: as effects, of twice as long answers.
    """

    judge: str
    reference: str
    names: tuple[str, str]
    measure: str
    family: str
    is_own: bool | None
    by_people: bool
    own: int
    others: int
    unknown: list[str]
    difference: PermutationTest | None = None
    effects: Sequence[Effect] = ()
    matched: Matched | None = None
    interaction: Interaction | None = None
    lengths: Sequence[Effect] = ()
    places: Places | None = None
    figures: Sequence[KeptFigure] = ()

    @property
    def is_known(self) -> bool:
        """Whether there are enough runs of the family and of others."""
        return min(self.own, self.others) >= LEAST_RUNS


def biased(campaign: Campaign) -> QuerySet[Comparison]:
    """Return the comparisons of runs' scores whose second side is a model's, or a table's, whose maker is not known."""
    ranked = [one.comparison for one in agreements(campaign) if any(taus.measure != LENGTH for taus in one.taus)]
    judged = [one.pk for one in comparisons_of(campaign).filter(pk__in=ranked) if is_of_judge(one)]
    return comparisons_of(campaign).filter(pk__in=judged).order_by("name")


def is_of_judge(comparison: Comparison) -> bool:
    """Say whether a comparison's second side is a model's, or a table's."""
    second = comparison.second
    return isinstance(second, ScoreTable) or (isinstance(second, Condition) and second.is_a_models)


def bias_measures(comparison: Comparison) -> dict[str, str]:
    """Return the measures that both sides have, in words, by key."""
    [found] = [one for one in agreements(comparison.campaign) if one.comparison == comparison.pk]
    keys = (taus.measure for taus in found.taus if taus.measure != LENGTH)
    return {key: measure_named(key).in_words for key in keys}


def bias_families(comparison: Comparison) -> dict[str, str]:
    """Return the families of which there are runs, in words, by key: the judge's own first, where it is known.

    Against another judge it is tested by its own alone.
    """
    own = _family(comparison.second)
    if own and not _is_by_people(comparison):
        return {own: FAMILIES[own]}
    generators = comparison.campaign.runs.exclude(generator="").order_by().values_list("generator", flat=True)
    wrote = {family for generator in generators.distinct() for family in generator.split()}
    known = [family for family in FAMILIES if family in wrote or family == own] or list(FAMILIES)
    return {family: FAMILIES[family] for family in sorted(known, key=lambda one: one != own)}


def _is_by_people(comparison: Comparison) -> bool:
    """Say whether a comparison's reference is no model's."""
    return not (isinstance(comparison.first, Condition) and comparison.first.is_a_models)


def _family(side: object) -> str:
    if isinstance(side, Condition) and side.is_panel:
        return one_family(side.members)
    return side.judge.family if isinstance(side, Condition) and side.judge else ""


def kept_bias(comparison: Comparison, measure: str, family: str) -> Bias:
    """Return what a judge favours, computed anew when scores, labels or runs have changed.

    Raises NothingToCompare.
    """
    (first, first_support), (second, second_support) = comparison.sides
    records = (first, second, first_support, second_support, comparison.topics_of)
    conditions = [one for one in records if isinstance(one, Condition)]
    if not conditions:  # tables are read in no time
        return _bias(comparison, measure, family)
    name = f"bias.{comparison.pk}.{measure}.{family}"
    return kept_result(conditions, name, lambda: _bias(comparison, measure, family))


def _bias(comparison: Comparison, measure: str, family: str) -> Bias:
    reference, judge = _load(comparison)
    sides = _sides(comparison, reference, judge, measure)
    is_known = np.array([bool(one) for one in sides.families], dtype=bool)
    is_own = np.array([family in one for one in sides.families], dtype=bool)
    own_family, seed = _family(comparison.second), comparison.seed
    first, second = names_of_sides(comparison)
    found = Bias(
        judge=second,
        reference=first,
        names=(sides.scores.reference.name, sides.scores.candidate.name),
        measure=measure,
        family=family,
        is_own=own_family == family if own_family else None,
        by_people=_is_by_people(comparison),
        own=int(is_own.sum()),
        others=int((is_known & ~is_own).sum()),
        unknown=[run for run, known in zip(sides.scores.reference.runs, is_known, strict=True) if not known],
        places=_places(comparison, reference, judge),
    )
    people, model = (one[is_known] for one in sides.means)
    if not found.by_people:
        if not found.is_known:
            return found
        families = [_family(comparison.first), family]
        wrote = [of_run for of_run in sides.families if of_run]
        orders = _orders(sides, is_known, seed)
        return found._replace(interaction=judge_interaction(np.column_stack([people, model]), families, wrote, orders))
    reliability = _reliability(sides.cells[0])
    found = found._replace(lengths=_lengths(sides, reliability, seed))
    if not found.is_known:
        return found
    orders = _orders(sides, is_known, seed)
    found = found._replace(
        difference=slope_test(model - people, is_own[is_known], orders),
        effects=_effects(sides, is_own, is_known, reliability, orders),
        matched=_matched(sides, is_own, is_known, seed),
    )
    return found._replace(figures=keep_figures([_figure(found, sides, is_own, is_known)]))


def _load(comparison: Comparison) -> tuple[Input, Input]:
    policy, names = Policy(comparison.policy), names_of(comparison.campaign)
    restriction = restriction_of(comparison)
    first, second = (
        restrict(load_input(record, policy, names, support), restriction, names)[0]
        for record, support in comparison.sides
    )
    return first, second


def _sides(comparison: Comparison, reference: Input, judge: Input, measure: str) -> Sides:
    """Return the runs that have scores on both sides. Raises NothingToCompare."""
    assert reference.scores is not None, "runs' scores were compared"
    assert judge.scores is not None, "on both sides"
    scores, _ = match_inputs(reference.scores, judge.scores)
    if measure not in scores.reference.measures:
        raise NothingToCompare("Both sides have no scores by this measure now.")
    at = scores.reference.measures.index(measure)
    both = (scores.reference, scores.candidate)
    means = [_means(one, at) for one in both]
    rows = np.flatnonzero(~np.isnan(means[0] + means[1]))
    tags = [scores.reference.runs[row] for row in rows]
    facts = {run.tag: run for run in comparison.campaign.runs.all()}
    kept = [
        one._replace(runs=tags, tasks=[one.tasks[row] for row in rows], cells=one.cells[rows], means=one.means[rows])
        for one in both
    ]
    return Sides(
        scores._replace(reference=kept[0], candidate=kept[1]),
        at,
        (means[0][rows], means[1][rows]),
        [facts[tag].families if tag in facts else [] for tag in tags],
        [(facts[tag].team if tag in facts else "") or tag for tag in tags],
    )


def _means(scores: ScoreMatrix, measure: int) -> Figures:
    """Return the means of runs by a measure: over the topics that both sides have, where topics are known."""
    return _over_topics(scores.cells[..., measure]) if scores.topics else scores.means[:, measure]


def _over_topics(cells: Figures) -> Figures:
    means: Figures = run_means(cells, np.ones((1, cells.shape[1])))[0]
    return means


def _reliability(cells: Figures) -> float | None:
    """Return the share of the variance of runs' means that is the runs', from topics on which all have a score.

    cells: (runs, topics). None where it can't be estimated, or is 0.
    """
    complete = cells[:, ~np.isnan(cells).any(axis=0)]
    if min(complete.shape) < 2:
        return None
    return generalizability(variance_components(complete), cells.shape[1]).value or None


def _orders(sides: Sides, rows: Flags, seed: int) -> Orders:
    teams = [team for team, is_kept in zip(sides.teams, rows, strict=True) if is_kept]
    return team_orders(teams, _draws(len(teams)), seed)


def _draws(places: int) -> int:
    return min(PERMUTATIONS, _MOST_CELLS // max(1, places))


def _effects(
    sides: Sides, trait: npt.ArrayLike, rows: Flags, reliability: float | None, orders: Orders
) -> list[Effect]:
    """Return the effect of a trait of runs with the reference's reliability taken for 1, then as it is, if known."""
    people, model = (one[rows] for one in sides.means)
    cells = (sides.cells[1][rows], sides.cells[0][rows]) if sides.has_topics else None
    return [
        trait_effect(model, people, np.asarray(trait)[rows], orders, cells, reliability=of)
        for of in (1.0, reliability)
        if of is not None
    ]


def _matched(sides: Sides, is_own: Flags, is_known: Flags, seed: int) -> Matched | None:
    """Test the family among answers that the reference scores alike and that are as long; None without lengths."""
    measures = sides.scores.reference.measures
    if LENGTH not in measures or not sides.has_topics:
        return None
    people, model = sides.cells
    lengths = sides.scores.reference.cells[..., measures.index(LENGTH)]
    left = matched_residuals(model[is_known], people[is_known], lengths[is_known])
    means = _over_topics(left)
    has_any = ~np.isnan(means)
    rows = is_known.copy()
    rows[is_known] = has_any
    if not has_any.any():
        return None
    test = slope_test(means[has_any], is_own[rows], _orders(sides, rows, seed))
    return Matched(test, int((~np.isnan(left)).sum()))


def _lengths(sides: Sides, reliability: float | None, seed: int) -> list[Effect]:
    """Return the effect of answers that are twice as long, of all runs that have any words; empty answers have none."""
    reference = sides.scores.reference
    if LENGTH not in reference.measures:
        return []
    at = reference.measures.index(LENGTH)
    cells = np.where(reference.cells > 0, reference.cells, np.nan)
    words = np.nan_to_num(_means(reference._replace(cells=cells), at))
    rows = words > 0
    if rows.sum() <= LEAST_RUNS:
        return []
    doubled = np.log2(words, out=np.zeros(len(words)), where=rows)
    return _effects(sides, doubled, rows, reliability, _orders(sides, rows, seed))


def _places(comparison: Comparison, reference: Input, judge: Input) -> Places | None:
    """Test whether the judge's labels go with the places of items in a call, against the reference's labels.

    None where they do not label the same items, or where the judge is not asked for lists of them here.
    """
    sides = diagnosed_sides(comparison)
    if not sides or reference.labels is None or judge.labels is None:
        return None
    first, second = sides
    kind = label_kind(second.kind)
    batch = getattr(second.protocol, kind.batch_setting) if kind.batch_setting and _is_asked(second) else 1
    if batch == 1:
        return None
    place = {
        one["id"]: (at % batch, edition.bank.topic_id)
        for edition in kind.scored_editions(first)
        for at, one in enumerate(edition.nuggets)
    }
    values, pairs = even_values(kind), match_labels(reference.labels, judge.labels)
    items, of_pair = np.unique(pairs.item, return_inverse=True)
    if not len(items):
        return None
    differences = np.bincount(of_pair, values[pairs.second] - values[pairs.first]) / np.bincount(of_pair)
    at, topics = zip(*(place[item] for item in items.tolist()), strict=True)
    test = place_test(differences, at, topics, draws=_draws(len(items)), seed=comparison.seed)
    return Places(test, len(items), batch)


def _is_asked(condition: Condition) -> bool:
    """Say whether a model is asked here, and its labels did not come in a file."""
    return condition.judge is not None and condition.judge.kind == Judge.Kind.MODEL


def _figure(found: Bias, sides: Sides, is_own: Flags, is_known: Flags) -> "NamedFigure":
    from metaeval.charts.bias import bias_figure
    from metaeval.charts.figures import NamedFigure

    family = FAMILIES[found.family]
    groups = [
        (family if own else "other families") if known else "family unknown"
        for own, known in zip(is_own, is_known, strict=True)
    ]
    label = measure_labels([found.measure])[found.measure]
    chart = bias_figure(
        sides.scores.reference.runs,
        sides.means,
        groups,
        middle=(float(sides.means[0][is_known].mean()), float(sides.means[1][is_known].mean())),
        slope=found.effects[-1].slope,
        titles=(f"{label}, {found.names[0]}", f"{label}, {found.names[1]}"),
    )
    return NamedFigure("families", f"Runs by {family} and by others", chart)
