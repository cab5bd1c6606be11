"""How good a judge can be at most: people's labels are noisy too.

Scores are arrays (runs, topics) of one measure, NaN where a cell does not count, of people (the reference) and a judge.
Labels are codes, as in agreement. Below LEAST_TOPICS topics nothing of this is computed.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats import correlation
from metaeval.stats.agreement import NO_VALUE, Counts, kappa
from metaeval.stats.bootstrap import Interval, count_topics, draw_topics, interval
from metaeval.stats.levels import pair_scores, run_means
from metaeval.stats.means import Figures, mean, within
from metaeval.stats.multiple_comparisons import benjamini_hochberg
from metaeval.stats.statistic import Statistic, undefined

LEAST_TOPICS = 10
LEAST_RUNS = 3
LEAST_ANNOTATORS = 3
LEAST_ITEMS = 30  # of an annotator
SPLITS = 1_000
MARGIN = 0.05  # of kappa
# What an annotator costs more than a judge, as a share of items (Calderon, Reichart, Dror 2025).
EPSILON = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
FALSE_DISCOVERIES = 0.05
PASSES = 0.5  # the winning rate from which on a judge may stand for an annotator
DOUBLED, DOUBLED_TOPICS = 100, 20  # answers to have labelled twice, and over how many topics at least

TOO_FEW_TOPICS = f"fewer than {LEAST_TOPICS} topics"
_ABOVE_1 = "above 1: too few runs or topics to tell"
_NEGATIVE = "a reliability is not above 0"


class Ceiling(NamedTuple):
    """Pearson's correlations of runs' means, over n runs.

    observed: of both sides over all topics. The others are means over splits of the topics into disjoint halves:
    across: of one side's half with the other side's other half; reference, candidate: of each side's two halves;
    ceiling: what across would be at most, in expectation; disattenuated: across without the noise of either side.
    """

    observed: Statistic
    across: Statistic
    reference: Statistic
    candidate: Statistic
    ceiling: Statistic
    disattenuated: Statistic


def noise_ceiling(reference: npt.ArrayLike, candidate: npt.ArrayLike, *, seed: int, splits: int = SPLITS) -> Ceiling:
    """Return how far two sides' runs correlate, and how far they could.

    reference, candidate: (runs, topics). With topics halved into A and B at random, by the seed, the disattenuated
    correlation is mean(r(H_A, M_B), r(H_B, M_A)) / sqrt(r(H_A, H_B) * r(M_A, M_B)), each r its mean over all splits.
    Both sides share what is special to a topic, so r over the same topics divided by split-half reliabilities
    (Spearman 1904) would be too large: here no two halves share a topic. Means of r are divided, and not quotients
    averaged: to drop the quotients above 1 would bias the rest downwards.
    """
    x, y = pair_scores(reference, candidate)
    runs, topics = x.shape
    if why := _too_few(runs, topics):
        return Ceiling(*[undefined(runs, why)] * len(Ceiling._fields))
    once = np.ones((1, topics))
    observed = correlation.pearson(run_means(x, once)[0], run_means(y, once)[0])
    in_a = split_topics(topics, splits, seed).astype(np.float64)
    (x_a, x_b), (y_a, y_b) = ([run_means(scores, half) for half in (in_a, 1 - in_a)] for scores in (x, y))

    def average(*pairs: tuple[Figures, Figures]) -> Statistic:
        found = float(mean(np.concatenate([_pearsons(one, other) for one, other in pairs]), axis=0))
        return undefined(runs, correlation.CONSTANT) if math.isnan(found) else Statistic(found, runs)

    across, own, other = average((x_a, y_b), (x_b, y_a)), average((x_a, x_b)), average((y_a, y_b))
    return Ceiling(observed, across, own, other, reliability_root(own, other), disattenuate(across, own, other))


def split_topics(topics: int, splits: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return which topics are in the first half of each split: (splits, topics). Seeded."""
    halves = np.tile(np.arange(topics) < topics // 2, (splits, 1))
    return np.random.default_rng(seed).permuted(halves, axis=1)


def disattenuate(r: Statistic, *reliabilities: Statistic) -> Statistic:
    """Return a correlation divided by the root of the product of reliabilities (Spearman 1904).

    Of correlations over the same topics, only second opinions and replicates are reliabilities. Undefined where one of
    them is not above 0, and where the quotient is beyond 1.
    """
    root = reliability_root(*reliabilities)
    if r.value is None or root.value is None:
        return r if r.value is None else root
    found = r.value / root.value
    return Statistic(found, r.n) if abs(found) <= 1 else undefined(r.n, _ABOVE_1)


def reliability_root(*reliabilities: Statistic) -> Statistic:
    """Return the root of the product of reliabilities: what a correlation is at most, in expectation."""
    values = []
    for one in reliabilities:
        if one.value is None:
            return one
        if one.value <= 0:
            return undefined(one.n, _NEGATIVE)
        values.append(one.value)
    return Statistic(math.sqrt(math.prod(values)), min(one.n for one in reliabilities))


def _too_few(runs: int, topics: int) -> str:
    if topics < LEAST_TOPICS:
        return TOO_FEW_TOPICS
    return f"fewer than {LEAST_RUNS} runs" if runs < LEAST_RUNS else ""


def _pearsons(first: Figures, second: Figures) -> Figures:
    """Return Pearson's correlation of each row: (rows,), NaN where undefined. first, second: (rows, runs)."""
    there = ~(np.isnan(first) | np.isnan(second))
    counts = there.sum(axis=1) >= LEAST_RUNS
    deviations = []
    for scores in (first, second):
        given = np.where(there, scores, np.nan)
        counts &= np.where(there, scores, -np.inf).max(axis=1) > np.where(there, scores, np.inf).min(axis=1)
        deviations.append(np.where(there, given - mean(given, axis=1)[:, np.newaxis], 0))
    x, y = deviations
    size = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    found: Figures = np.divide((x * y).sum(axis=1), size, out=np.full(len(x), np.nan), where=counts)
    return found


class Noninferiority(NamedTuple):
    """Whether a judge agrees with a person as well as another person does, within a margin fixed beforehand.

    people: kappa of both persons; judge: of the first person and the judge; difference: the latter less the former.
    """

    people: Statistic
    judge: Statistic
    difference: Statistic
    interval: Interval
    margin: float

    @property
    def is_within(self) -> bool | None:
        """Say whether the judge is within the margin of a second person; None where the interval leaves it open."""
        low, high = self.interval.low, self.interval.high
        if low is None or high is None:
            return None
        if low > -self.margin:
            return True
        return False if high < -self.margin else None


def compare_kappas(
    people: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    margin: float = MARGIN,
    seed: int,
    draws: int = 1000,
    confidence: float = 0.95,
) -> Noninferiority:
    """Test kappa(person, judge) - kappa(person, person) > -margin by a bootstrap over topics.

    people, judge: confusion matrices of the same items by topic, (topics, labels, labels). The judge is within the
    margin where the lower bound of the two-sided interval is above -margin: at 95 %, a one-sided test at 2.5 %.
    Kappa is unweighted. Raises ValueError where the margin is not above 0 and below 1, or the matrices' items differ.
    """
    first, second = (np.asarray(counts, dtype=np.int64) for counts in (people, judge))
    if not 0 < margin < 1:
        raise ValueError("a margin of kappa is above 0 and below 1")
    if first.shape != second.shape or first.ndim != 3 or (first.sum(axis=2) != second.sum(axis=2)).any():
        raise ValueError("both matrices are of the same items by the same topics")
    topics, pairs = len(first), int(first.sum())
    of_people, of_judge = (kappa(counts.sum(axis=0)) for counts in (first, second))
    if of_people.value is None or of_judge.value is None:
        difference = of_people if of_people.value is None else of_judge
    else:
        difference = Statistic(of_judge.value - of_people.value, pairs)
    if topics < LEAST_TOPICS or difference.value is None:
        why = TOO_FEW_TOPICS if topics < LEAST_TOPICS else difference.why
        return Noninferiority(of_people, of_judge, difference, Interval(None, None, None, 0, why), margin)
    weights = count_topics(draw_topics(topics, draws, seed), topics)
    differences = _kappas(weights, second) - _kappas(weights, first)
    return Noninferiority(of_people, of_judge, difference, interval(differences, confidence), margin)


def _kappas(weights: Figures, by_topic: Counts) -> Figures:
    """Return kappa of each draw: (draws,), NaN where undefined. weights: (draws, topics)."""
    labels = by_topic.shape[1]
    counts = (weights @ by_topic.reshape(len(by_topic), -1)).reshape(-1, labels, labels)
    pairs = counts.sum(axis=(1, 2))
    differ = pairs - np.trace(counts, axis1=1, axis2=2)
    expected = pairs**2 - (counts.sum(axis=2) * counts.sum(axis=1)).sum(axis=1)
    found: Figures = 1 - np.divide(differ * pairs, expected, out=np.full(len(counts), np.nan), where=expected > 0)
    return found


class Annotator(NamedTuple):
    """How well a judge and an annotator each stand for the other annotators, on the annotator's items.

    place: the annotator's. judge, annotator: rho, the mean over topics of the share of items on which each agrees with
    the others at least as well as the other one does. p: one-sided; adjusted: for the number of annotators.
    """

    place: int
    items: int
    topics: int
    judge: float
    annotator: float
    p: float
    adjusted: float

    @property
    def is_won(self) -> bool:
        """Say whether the judge may stand for this annotator."""
        return self.adjusted <= FALSE_DISCOVERIES


class AlternativeAnnotator(NamedTuple):
    """The alternative annotator test. winning_rate: omega, over n annotators; advantage: rho, their mean."""

    annotators: list[Annotator]
    winning_rate: Statistic
    advantage: Statistic
    epsilon: float

    @property
    def passes(self) -> bool | None:
        """Say whether the judge may stand for an annotator; None where that was not tested."""
        return None if self.winning_rate.value is None else self.winning_rate.value >= PASSES


def alternative_annotator(
    annotators: npt.ArrayLike, judge: npt.ArrayLike, topics: npt.ArrayLike, *, epsilon: float
) -> AlternativeAnnotator:
    """Test whether a judge may stand for an annotator (Calderon, Reichart, Dror: arXiv 2501.10970).

    annotators: codes of labels (annotators, items), NO_VALUE where somebody did not label an item; judge, topics:
    (items,), the judge's codes and each item's topic. An item counts where the judge and at least two annotators
    labelled it; an annotator with LEAST_ITEMS of these, over two topics, is tested. On an item, the one is right whose
    label more of the other annotators gave; where it is equal, both are. H0: rho of the judge <= rho of the
    annotator - epsilon, by a one-sided paired t-test on topics' means, as items of a topic are not independent, with
    Benjamini and Yekutieli's adjustment over annotators. Not tested with fewer than LEAST_ANNOTATORS annotators.
    """
    codes = within(annotators, NO_VALUE, np.iinfo(np.int8).max, "codes")
    other, topic = within(judge, NO_VALUE, np.iinfo(np.int8).max, "codes"), np.asarray(topics)
    if codes.ndim != 2 or other.shape != codes.shape[1:] or topic.shape != other.shape:
        raise ValueError(
            "annotators' labels are a table of annotators and items, with a judge's label and a topic each"
        )
    has_label = codes != NO_VALUE
    counts = (has_label.sum(axis=0) >= 2) & (other != NO_VALUE)
    found = []
    for place, (own, is_own) in enumerate(zip(codes, has_label & counts, strict=True)):
        others = np.delete(codes[:, is_own], place, axis=0)
        of_judge, of_annotator = ((others == label[is_own]).sum(axis=0) for label in (other, own))
        names, at = np.unique(topic[is_own], return_inverse=True)
        if is_own.sum() < LEAST_ITEMS or len(names) < 2:
            continue
        judge_wins, annotator_wins = (
            np.bincount(at, wins) / np.bincount(at) for wins in (of_judge >= of_annotator, of_annotator >= of_judge)
        )
        p = _below(annotator_wins - judge_wins, epsilon)
        shares = float(judge_wins.mean()), float(annotator_wins.mean())
        found.append(Annotator(place, int(is_own.sum()), len(names), *shares, p, p))
    n, used = len(found), len(np.unique(topic[counts]))
    if n < LEAST_ANNOTATORS or used < LEAST_TOPICS:
        few = f"fewer than {LEAST_ANNOTATORS} annotators with {LEAST_ITEMS} items that others labelled too"
        nothing = undefined(n, few if n < LEAST_ANNOTATORS else TOO_FEW_TOPICS)
        return AlternativeAnnotator([], nothing, nothing, epsilon)
    adjusted = benjamini_yekutieli([one.p for one in found])
    tested = [one._replace(adjusted=p) for one, p in zip(found, adjusted.tolist(), strict=True)]
    winning, advantage = sum(one.is_won for one in tested) / n, sum(one.judge for one in tested) / n
    return AlternativeAnnotator(tested, Statistic(winning, n), Statistic(advantage, n), epsilon)


def _below(differences: Figures, limit: float) -> float:
    """Return the p-value of a one-sided t-test that differences are on average not below a limit."""
    from scipy import special  # it takes long to load

    size = len(differences)
    excess = float(differences.mean()) - limit
    error = float(differences.std(ddof=1)) / math.sqrt(size)
    if error < 1e-12:  # equal on all topics: certain, either way
        return 0.0 if excess < 0 else 1.0
    return float(special.stdtr(size - 1, excess / error))


def benjamini_yekutieli(p: npt.ArrayLike) -> Figures:
    """Return p-values adjusted for a false discovery rate under any dependence (Benjamini and Yekutieli 2001)."""
    given = np.asarray(p, dtype=np.float64)
    return benjamini_hochberg(given * (1 / np.arange(1, len(given) + 1)).sum())


class Doubling(NamedTuple):
    """What to have labelled by a second person: a share of the answers, in percent, on so many topics."""

    topics: int
    share: int
    answers: int


def plan_doubling(answers: Sequence[int], wanted: int = DOUBLED) -> Doubling | None:
    """Return what to have labelled twice, for about so many answers over as many topics as can be.

    answers: of each topic; a share of them is rounded up, topic by topic. Where one percent of all topics is too much,
    fewer topics, DOUBLED_TOPICS at least; then the number of answers is that of topics of mean size. None where there
    are fewer than LEAST_TOPICS topics with answers.
    """
    there = [count for count in answers if count]
    if len(there) < LEAST_TOPICS:
        return None

    def total(share: int) -> int:
        return sum(-(-count * share // 100) for count in there)

    share = next((share for share in range(1, 100) if total(share) >= wanted), 100)
    topics = len(there)
    if share == 1:
        topics = min(topics, max(DOUBLED_TOPICS, round(wanted * topics / total(1))))
    return Doubling(topics, share, round(total(share) * topics / len(there)))
