"""Hybrid scores: estimated from people's labels of some topics and a model's of all."""

from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from assessor.campaigns.models import Campaign
from assessor.campaigns.queries import told_sides
from assessor.scores.score_source import scoring_of
from metaeval.hybrid_sides import Sides, sides_of
from metaeval.kept_results import kept_result
from metaeval.measures import measure_named
from metaeval.models import Hybrid
from metaeval.stats import hybrid as estimation
from metaeval.stats import multiple_comparisons
from metaeval.stats.correlation import kendall_tau
from metaeval.stats.hybrid import PRIOR_SD, Differences, Estimates, OrderTau, Shrunk, Size, Target
from metaeval.stats.means import Figures, mean
from metaeval.stats.measures import Measure
from metaeval.stats.statistic import Statistic

SEED = 2026  # of draws of topics for intervals of tau
SHIFTED = 0.3  # weight of runs' own biases, below which the order is the model's
_SIZES = 24  # numbers of topics on the curve


class Settings(NamedTuple):
    """How scores are estimated. confidence: of intervals, in percent; prior_sd: of runs' biases."""

    target: Target = Target.CAMPAIGN
    confidence: int = 95
    prior_sd: float = PRIOR_SD

    @property
    def level(self) -> float:
        return self.confidence / 100


class Result(NamedTuple):
    """Hybrid scores by one measure. alone: what people's labels give without the model's.

    human, model: people's means over the topics that they judged, and the model's over all, (runs,); judged: topics
    that people judged, of so many; decided: pairs of runs told apart, and by p-values adjusted for their number (Holm);
    order: places of runs, the best first; tau: of this order with the model's; against_people: of this order and the
    model's with people's, where people judged all topics besides those drawn; curve: what more topics would give.
    """

    measure: Measure
    settings: Settings
    sides: Sides
    scores: Estimates
    alone: Estimates
    differences: Differences
    holm: Figures
    decided: int
    decided_holm: int
    shrunk: Shrunk
    human: Figures
    model: Figures
    judged: int
    topics: int
    order: list[int]
    tau: Statistic
    against_people: tuple[OrderTau, OrderTau] | None
    curve: list[Size]

    @property
    def measures(self) -> list[Measure]:
        """The measures by which there are scores."""
        return [measure_named(key) for key in self.sides.measures]

    @property
    def pairs(self) -> int:
        """How many pairs of runs have an interval."""
        return int((~np.isnan(self.differences.p)).sum())

    @property
    def is_defined(self) -> bool:
        """Whether any run has an interval."""
        return not np.isnan(self.scores.mean).all()

    @property
    def is_whole(self) -> bool:
        """Whether people judged all topics of the campaign, so that nothing is estimated."""
        return self.judged == self.topics

    @property
    def half_width(self) -> float:
        """Of the median run."""
        return float(np.nanmedian(self.scores.half_width))

    @property
    def is_shifted(self) -> bool:
        """Whether the order is the model's in all but name."""
        weight = self.shrunk.weight.value
        return weight is not None and weight < SHIFTED


def hybrids_of(campaign: Campaign) -> QuerySet[Hybrid]:
    """Return a campaign's hybrid scores, the newest first."""
    found = Hybrid.objects.filter(campaign=campaign).select_related("campaign", "draw__created_by", "created_by")
    return found.prefetch_related(*told_sides("human", "model"))


def settings_of(hybrid: Hybrid) -> Settings:
    """Return how the scores of a record are estimated."""
    return Settings(Target(hybrid.target), hybrid.confidence, float(hybrid.prior_sd))


def hybrid_result(hybrid: Hybrid, measure: str = "") -> Result:
    """Return the scores by a measure, by its key, or by the first; kept until labels change.

    Raises NothingToCompare, and KeyError where not both sides have the measure.
    """

    def compute() -> Result:
        sides = sides_of(hybrid)
        return estimate(sides, measure or sides.measures[0], settings_of(hybrid))

    return kept_result([hybrid.human, hybrid.model], f"hybrid.{hybrid.pk}.{known_measure(hybrid, measure)}", compute)


def known_measure(hybrid: Hybrid, measure: str) -> str:
    """Return the key of a measure, "" for the first one. Raises KeyError where people's labels have no such measure."""
    if measure and measure not in scoring_of(hybrid.human.kind).measures.keys:
        raise KeyError(measure)
    return measure


def estimate(sides: Sides, measure: str, settings: Settings) -> Result:
    """Estimate the scores by a measure, by its key. Raises KeyError where the sides don't have it."""
    if measure not in sides.measures:
        raise KeyError(measure)
    at = sides.measures.index(measure)
    human, model = sides.human[..., at], sides.model[..., at]
    target, level = settings.target, settings.level
    scores = estimation.hybrid_scores(human, model, target, confidence=level)
    differences = estimation.hybrid_differences(human, model, target, confidence=level)
    holm = multiple_comparisons.holm(differences.p)
    shrunk = estimation.shrunk(human, model, target, settings.prior_sd)
    of_model = mean(model, 1)
    by = np.where(np.isnan(shrunk.scores), scores.mean, shrunk.scores)
    is_judged = ~np.isnan(human) & ~np.isnan(model)
    judged, topics = (int(there.any(axis=0).sum()) for there in (is_judged, ~np.isnan(model)))
    return Result(
        measure=measure_named(measure),
        settings=settings,
        sides=sides,
        scores=scores,
        alone=estimation.hybrid_scores(human, model, target, 0, level),
        differences=differences,
        holm=holm,
        decided=int((differences.p < 1 - level).sum()),
        decided_holm=int((holm < 1 - level).sum()),
        shrunk=shrunk,
        human=mean(human, 1),
        model=of_model,
        judged=judged,
        topics=topics,
        order=sorted(range(len(by)), key=lambda at: (np.isnan(by[at]), -by[at], sides.runs[at].encode())),
        tau=kendall_tau(by, of_model),
        against_people=_against_people(sides.people[..., at], human, model, settings),
        curve=_curve(scores, differences, judged, topics, settings),
    )


def _against_people(
    people: Figures, human: Figures, model: Figures, settings: Settings
) -> tuple[OrderTau, OrderTau] | None:
    """Return how both orders agree with people's of all topics; None where people judged not all, or all were drawn."""
    lacks_some = np.isnan(people)[~np.isnan(model)].any()
    if lacks_some or np.array_equal(people, human, equal_nan=True):
        return None
    return estimation.order_taus(
        people, human, model, settings.target, settings.prior_sd, seed=SEED, confidence=settings.level
    )


def _curve(scores: Estimates, differences: Differences, judged: int, topics: int, settings: Settings) -> list[Size]:
    """Return what to expect of more topics, from those judged now on up to all; nothing where nothing is known."""
    if np.isnan(scores.mean).all() or judged == topics:
        return []
    sizes = np.unique(np.linspace(judged, topics, min(_SIZES, topics - judged + 1)).round().astype(int)).tolist()
    return estimation.more_topics(scores, differences, sizes, settings.target, settings.level)
