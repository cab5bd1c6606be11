"""Alarms while people label: what a person's labels of one kind tell of care, speed, strictness and change.

Arrays of labels are (labels,), in the order in which they were given. A label is its place in its vocabulary, from 0
for the least, and NO_VALUE where there is none. Constants are such that all alarms together are false for at most 5 %
of careful assessors in a week of 360 answers: tests/metaeval/stats/test_monitoring.py has the simulation.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import NO_VALUE, confusion_matrix, kappa
from metaeval.stats.means import Codes, Figures
from metaeval.stats.statistic import Statistic, undefined

WEEK = 360  # answers

GOOD, BAD = 0.85, 0.65  # agreement with oneself and with gold labels
BOUND = math.log(19)  # of the sequential test, for errors of 5 % each
LIMIT = math.log(99)  # of the chart that follows it
IN_AN_ANSWER = 0.03  # correlation of whether labels of one answer agree

SLACK, DRIFT_LIMIT = 0.5, 10.0  # of the chart for drift, in standard deviations
BY_TOPIC = 0.25  # variance of topics in it, relative to that of answers
_FIRST = 10  # answers before that chart begins
_NOTHING = 1e-9  # squared changes that rounding alone may leave
_UNKNOWN = 1e6  # variance of a mean of which nothing is known

ALPHA = 0.01  # a week, of shares of labels; and as much of agreement with a model
IN_A_TOPIC = 0.1  # correlation of a topic's labels: 0.07 to 0.09 in NIST's of the TREC 2024 RAG track
IN_A_TOPIC_EXPECTED = 0.05  # and where others' labels of the same items say what is expected

IN_A_ROW = 20
FAST = 2  # seconds
USUAL = 0.6  # share of others' labels from which on equal labels in a row say nothing
WRONG = 0.02  # share of a model's replies that may be unreadable
_PRIOR = 10  # labels that each row of a table of expected shares starts with


class Watched(NamedTuple):
    """A chart or test at its end: where it is now, after how many observations it raised alarms, and was reset to 0.

    cleared: after how many a sequential test accepted that all is well.
    """

    position: float
    raised: tuple[int, ...]
    cleared: tuple[int, ...] = ()


def log_ratios(agreed: npt.ArrayLike, sizes: npt.ArrayLike) -> Figures:
    """Return log P(agreed | BAD) / P(agreed | GOOD) of answers whose labels were given again.

    agreed, sizes: (answers,), how many labels agree, and of how many. Those of an answer are not independent: counts
    are beta-binomial with correlation IN_AN_ANSWER, and Bernoulli where an answer has one label. Raises ValueError for
    counts that are no part of their sizes.
    """
    from scipy.special import betaln

    hits, n = np.asarray(agreed, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if hits.shape != n.shape or (hits < 0).any() or (hits > n).any():
        raise ValueError("of each answer, at most all labels agree")

    def log_likelihood(share: float) -> Figures:
        a, b = (part * (1 / IN_AN_ANSWER - 1) for part in (share, 1 - share))
        found: Figures = betaln(hits + a, n - hits + b) - betaln(a, b)
        return found

    return log_likelihood(BAD) - log_likelihood(GOOD)


def watch_agreement(agreed: npt.ArrayLike, sizes: npt.ArrayLike) -> Watched:
    """Test after each answer whether a person agrees with themselves or with gold labels, as in log_ratios().

    A sequential probability ratio test (Wald 1947) of GOOD against BAD with boundaries -BOUND and BOUND. Once it
    accepts, the same log-ratios go into Page's cumulative sum (1954), which raises an alarm at LIMIT. After an alarm
    the test begins anew: when it accepts, the person agrees again.
    """
    position, is_accepted = 0.0, False
    raised, cleared = [], []
    for number, ratio in enumerate(log_ratios(agreed, sizes).tolist(), start=1):
        position += ratio
        if is_accepted:
            position = max(0.0, position)
        if position >= (LIMIT if is_accepted else BOUND):
            raised.append(number)
            position, is_accepted = 0.0, False
        elif not is_accepted and position <= -BOUND:
            cleared.append(number)
            position, is_accepted = 0.0, True
    return Watched(position, tuple(raised), tuple(cleared))


def standing_since(watched: Watched) -> int | None:
    """Return after how many observations the first alarm was raised that was not cleared since, None for none."""
    last = max(watched.cleared, default=0)
    return next((number for number in watched.raised if number > last), None)


def standardize_changes(values: npt.ArrayLike, topics: npt.ArrayLike) -> Figures:
    """Return how far each value is from what those before it foretell, as independent standard normal deviates.

    values: (answers,), such as how much stricter a label is than expected; topics: (answers,), the key of each one's
    topic. The mean is not known, nor the variance: a topic adds an effect of its own with BY_TOPIC of the variance of
    answers, foretold by a Kalman filter; what is left is divided by its standard deviation so far, and Student's t is
    turned into a normal deviate (self-starting charts: Hawkins 1987). NaN for the first _FIRST values, and while
    nothing has changed.
    """
    from scipy.special import ndtri, stdtr

    given, of_topic = np.asarray(values, dtype=np.float64), np.asarray(topics)
    if given.shape != of_topic.shape or given.ndim != 1:
        raise ValueError("each value has a topic")
    changes = np.zeros(len(given))
    of_all, effect = 0.0, 0.0  # the mean, and the topic's effect, with their variances and covariance
    var_all, var_effect, covariance = _UNKNOWN, BY_TOPIC, 0.0
    for at, value in enumerate(given.tolist()):
        if at and of_topic[at] != of_topic[at - 1]:
            effect, var_effect, covariance = 0.0, BY_TOPIC, 0.0
        expected = var_all + 2 * covariance + var_effect + 1
        surprise = value - of_all - effect
        changes[at] = surprise / math.sqrt(expected)
        gain_all, gain_effect = (var_all + covariance) / expected, (covariance + var_effect) / expected
        of_all, effect = of_all + gain_all * surprise, effect + gain_effect * surprise
        var_all -= gain_all * gain_all * expected
        var_effect -= gain_effect * gain_effect * expected
        covariance -= gain_all * gain_effect * expected
    found = np.full(len(given), np.nan)
    before = np.arange(len(given)) - 1  # changes that are known, as nothing foretells the first value
    squares = np.cumsum(changes**2) - changes**2 - changes[:1].sum() ** 2
    is_known = (before >= _FIRST - 1) & (squares > _NOTHING)
    shares = stdtr(before[is_known], changes[is_known] / np.sqrt(squares[is_known] / before[is_known]))
    found[is_known] = ndtri(np.clip(shares, 1e-12, 1 - 1e-12))
    return found


def watch_drift(deviates: npt.ArrayLike) -> Watched:
    """Watch standard normal deviates by two cumulative sums, up and down (Page 1954), with SLACK and DRIFT_LIMIT.

    position: the sum that is further from 0, with its sign. NaN is skipped.
    """
    up = down = 0.0
    raised = []
    for number, deviate in enumerate(np.asarray(deviates, dtype=np.float64).tolist(), start=1):
        if not math.isnan(deviate):
            up, down = max(0.0, up + deviate - SLACK), max(0.0, down - deviate - SLACK)
            if max(up, down) >= DRIFT_LIMIT:
                raised.append(number)
                up = down = 0.0
    return Watched(up if up >= down else -down, tuple(raised))


def spend(fraction: float, alpha: float = ALPHA) -> float:
    """Return how much of alpha is spent when a fraction of the information is in: alpha log(1 + (e - 1) fraction).

    Of the spending functions of Lan and DeMets (1983) it is the one that looks alike often, as Pocock's does.
    """
    return alpha * math.log1p((math.e - 1) * min(max(fraction, 0.0), 1.0))


def effective_number(sizes: npt.ArrayLike, correlation: float) -> float:
    """Return how many independent labels tell as much as labels in clusters do: n / (1 + (m - 1) correlation).

    sizes: (clusters,); m is sum(sizes**2) / sum(sizes) (Kish 1965). 0 of nothing.
    """
    n = np.asarray(sizes, dtype=np.float64)
    total = float(n.sum())
    return total / (1 + (float((n**2).sum()) / total - 1) * correlation) if total else 0.0


def binomial_p(share: float, n: float, expected: float) -> tuple[float, float]:
    """Return the exact probability of a share of n labels as low, and as high, as this or more so.

    n: of independent labels, rounded down; the count is rounded towards what is expected, so that neither is too small.
    """
    from scipy.special import bdtr, bdtrc

    trials = int(n)
    count = share * n
    low, high = math.ceil(min(count, trials)), math.floor(min(count, trials))
    return float(bdtr(low, trials, expected)), float(bdtrc(high - 1, trials, expected)) if high else 1.0


class Share(NamedTuple):
    """How often a label was given in the last week, and was to be expected, over n labels.

    raised: after how many topics.
    """

    value: float | None
    expected: float | None
    n: int
    raised: tuple[int, ...] = ()
    why: str = ""


def watch_share(
    hits: npt.ArrayLike,
    expected: npt.ArrayLike,
    sizes: npt.ArrayLike,
    answers: npt.ArrayLike,
    others: float,
    correlation: float,
    tests: int = 1,
    *,
    is_two_sided: bool = True,
) -> Share:
    """Test after each topic how often a label was given in this week, by the exact binomial distribution.

    hits, expected, sizes, answers: (topics,): how often it was given, how often that was to be expected, of how many
    labels, of how many answers. others: how many independent labels what is expected comes from. Topics are clusters
    with this correlation. Each week of WEEK answers may spend ALPHA / tests, as spend() shares it out: the test after a
    topic has what that adds, so that all together have no more, however they depend on each other. One-sided: only too
    few raise an alarm.
    """
    columns = [np.asarray(column, dtype=np.float64) for column in (hits, expected, sizes, answers)]
    raised, first, spent = [], 0, 0.0
    share = wanted = None
    n = 0
    for topic in range(len(columns[0])):
        given, foretold, labels, of_answers = (column[first : topic + 1] for column in columns)
        n = int(labels.sum())
        allowed = spend(of_answers.sum() / WEEK, ALPHA / tests)
        share = float(given.sum() / n) if n else None
        if n and others:
            wanted = float(foretold.sum() / n)
            independent = 1 / (1 / effective_number(labels, correlation) + 1 / others)
            low, high = binomial_p(given.sum() / n, independent, wanted)
            if (2 * min(low, high) if is_two_sided else low) <= allowed - spent:
                raised.append(topic + 1)
        spent = allowed
        if of_answers.sum() >= WEEK and topic + 1 < len(columns[0]):
            first, spent = topic + 1, 0.0
    why = "" if others else "no other person has such labels yet"
    return Share(share, wanted, n, tuple(raised), why if n else "no topic is signed off")


def find_equal(codes: npt.ArrayLike, references: npt.ArrayLike) -> tuple[int, ...]:
    """Return after how many labels IN_A_ROW were equal that were not expected to be, once for each row of equal ones.

    codes, references: (labels,); of the last IN_A_ROW items, others gave less than a share of USUAL the same label.
    """
    given = np.asarray(codes)
    is_expected = given == np.asarray(references)
    if not len(given):
        return ()
    is_first = np.r_[True, given[1:] != given[:-1]]
    sums = np.r_[0, np.cumsum(is_expected)]
    of_last = sums[IN_A_ROW:] - sums[:-IN_A_ROW]
    is_rare = np.r_[[False] * min(IN_A_ROW - 1, len(given)), of_last < IN_A_ROW * USUAL]
    at = np.flatnonzero((_lengths(is_first) >= IN_A_ROW) & is_rare)
    _, places = np.unique(np.cumsum(is_first)[at], return_index=True)
    return tuple((at[places] + 1).tolist())


def find_fast(seconds: npt.ArrayLike) -> tuple[int, ...]:
    """Return after how many labels IN_A_ROW took less than FAST seconds each, once for each row of such labels."""
    is_fast = np.asarray(seconds, dtype=np.float64) < FAST
    if not len(is_fast):
        return ()
    lengths = _lengths(np.r_[True, is_fast[1:] != is_fast[:-1]])
    return tuple((np.flatnonzero(is_fast & (lengths == IN_A_ROW)) + 1).tolist())


def _lengths(is_first: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Return how long the row of equal things is of which each is the last so far. is_first: whether it begins one."""
    places = np.arange(len(is_first))
    found: npt.NDArray[np.intp] = places - np.maximum.accumulate(np.where(is_first, places, 0)) + 1
    return found


def compare_shares(first: npt.ArrayLike, second: npt.ArrayLike, correlation: float = IN_A_TOPIC) -> float | None:
    """Return the p-value of a chi-squared test that two sets of labels have the same shares of each label.

    first, second: counts, (topics, labels); the topics need not be the same. Counts are divided by the design effect of
    topics as clusters with this correlation (Rao and Scott 1981). None where fewer than two different labels were
    given, or one set has none.
    """
    rows = []
    for counts in (np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)):
        n = float(counts.sum())
        if not n:
            return None
        rows.append(counts.sum(axis=0) * effective_number(counts.sum(axis=1), correlation) / n)
    table = np.array(rows)
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return chi_squared_p(float(((table - expected) ** 2 / expected).sum()), table.shape[1] - 1)


def chi_squared_p(statistic: float, freedom: int) -> float:
    """Return the probability of a statistic as high as this or higher (Abramowitz and Stegun 26.4.4 and 26.4.5).

    Without SciPy, which takes a web process 27 MiB.
    """
    half = statistic / 2
    even = freedom % 2 == 0
    tail = 0.0 if even else math.erfc(math.sqrt(half))
    shape = 0.0 if even else 0.5
    while shape < freedom / 2:
        tail += half**shape * math.exp(-half) / math.gamma(shape + 1)
        shape += 1
    return tail


class Check(StrEnum):
    """What is watched of a person's labels of a kind."""

    AGREEMENT = "agreement"
    SHARES = "shares"
    SPEED = "speed"
    EQUAL = "equal"
    DRIFT = "drift"
    MODEL = "model"


class Work(NamedTuple):
    """A person's labels of a kind, in the order given: arrays (labels,).

    topic, answer: by key. seconds: NaN where not measured. reference: what others gave the same item, or NO_VALUE;
    is_models: whether that is a model's label. finished: the topics that are signed off, in this order.
    """

    topic: npt.NDArray[np.intp]
    answer: npt.NDArray[np.intp]
    code: Codes
    seconds: Figures
    reference: Codes
    is_models: npt.NDArray[np.bool_]
    finished: Sequence[int]


class Finding(NamedTuple):
    """What a check found. value, expected: a share, or of DRIFT a sum in standard deviations; n: labels, or answers.

    label: which one, of SHARES. raised: after how many labels it raised alarms; of AGREEMENT after how many answers.
    since: the first of them that stands: of the last WEEK answers, or of AGREEMENT not cleared since.
    """

    check: Check
    n: int
    value: float | None = None
    expected: float | None = None
    label: int | None = None
    raised: tuple[int, ...] = ()
    since: int | None = None
    why: str = ""
    kappa: Statistic = undefined(0, "")


def watch(
    work: Work, others: Work, labels: int, agreed: npt.ArrayLike, sizes: npt.ArrayLike, people: int = 1
) -> list[Finding]:
    """Return what all checks find of a person's work.

    others: what all other people of the campaign gave; two of them have different keys for a topic. labels: how many
    the kind has. agreed, sizes: of each answer that was labelled again or is gold, as watch_agreement() takes them.
    people: how many are watched: ALPHA is divided among them.
    """
    return [
        _agreement(np.asarray(agreed), np.asarray(sizes)),
        *_shares(work, others, labels, people),
        _model(work, others, labels, people),
        _speed(work),
        _equal(work),
        _drift(work, labels),
    ]


def _agreement(agreed: Figures, sizes: Figures) -> Finding:
    n = int(sizes.sum())
    if not n:
        return Finding(Check.AGREEMENT, 0, expected=GOOD, why="nothing was labelled again, and no label is gold")
    watched = watch_agreement(agreed, sizes)
    share = float(agreed.sum() / n)
    return Finding(Check.AGREEMENT, n, share, GOOD, raised=watched.raised, since=standing_since(watched))


def _shares(work: Work, others: Work, labels: int, people: int) -> list[Finding]:
    """Look at each label on signed-off topics; what others gave the same items says what is to be expected."""
    at = np.flatnonzero(np.isin(work.topic, work.finished))
    likely = _shares_given(others, labels)[work.reference[at]]
    paired = float((work.reference[at] != NO_VALUE).mean()) if len(at) else 0.0
    correlation = paired * IN_A_TOPIC_EXPECTED + (1 - paired) * IN_A_TOPIC
    known = effective_number(np.unique(others.topic, return_counts=True)[1], correlation)
    return [
        _by_topic(
            Check.SHARES, work, at, work.code[at] == label, likely[:, label], known, correlation, labels * people
        )._replace(label=label)
        for label in range(labels)
    ]


def _shares_given(others: Work, labels: int) -> Figures:
    """Return how often people give each label: a row for each that others gave the same item, the last one for none.

    Each row starts with _PRIOR labels as often as all give them.
    """
    rows = others.reference.astype(np.intp) % (labels + 1)  # NO_VALUE is the last one
    counts = np.bincount(rows * labels + others.code, minlength=(labels + 1) * labels).reshape(labels + 1, labels)
    of_all = (counts.sum(axis=0) + 1) / (counts.sum() + labels)
    found: Figures = (counts + _PRIOR * of_all) / (counts.sum(axis=1, keepdims=True) + _PRIOR)
    return found


def _model(work: Work, others: Work, labels: int, people: int) -> Finding:
    """Look at agreement with a model, on topics that both finished; others' agreement with it is to be expected."""
    at = np.flatnonzero(work.is_models)
    theirs = np.flatnonzero(others.is_models)
    equal = others.code[theirs] == others.reference[theirs]
    counts = np.bincount(others.reference[theirs], minlength=labels)
    likely = (np.bincount(others.reference[theirs], equal, labels) + _PRIOR * (equal.mean() if len(equal) else 0)) / (
        counts + _PRIOR
    )
    known = effective_number(np.unique(others.topic[theirs], return_counts=True)[1], IN_A_TOPIC_EXPECTED)
    hits, expected = work.code[at] == work.reference[at], likely[work.reference[at]]
    found = _by_topic(Check.MODEL, work, at, hits, expected, known, IN_A_TOPIC_EXPECTED, people)
    if not len(at):
        return found._replace(why="no topic is finished by both")
    return found._replace(kappa=kappa(confusion_matrix(work.reference[at], work.code[at], labels)))


def _by_topic(
    check: Check,
    work: Work,
    at: npt.NDArray[np.intp],
    hits: npt.NDArray[np.bool_],
    expected: Figures,
    others: float,
    correlation: float,
    tests: int,
) -> Finding:
    """Give watch_share() the labels at these places, by topic in the order in which topics were signed off."""
    topics = [topic for topic in work.finished if (work.topic[at] == topic).any()]
    places = [work.topic[at] == topic for topic in topics]
    share = watch_share(
        [hits[of_topic].sum() for of_topic in places],
        [expected[of_topic].sum() for of_topic in places],
        [of_topic.sum() for of_topic in places],
        [len(np.unique(work.answer[at[of_topic]])) for of_topic in places],
        others,
        correlation,
        tests,
        is_two_sided=check == Check.SHARES,
    )
    last = [int(np.flatnonzero(work.topic == topic)[-1]) + 1 for topic in topics]
    raised = sorted(last[number - 1] for number in share.raised)
    return Finding(
        check, share.n, share.value, share.expected, None, tuple(raised), _first_recent(work, raised), share.why
    )


def _speed(work: Work) -> Finding:
    at = np.flatnonzero(~np.isnan(work.seconds))
    if not len(at):
        return Finding(Check.SPEED, 0, why="the time of no label was measured")
    return _of_labels(Check.SPEED, work, at, find_fast(work.seconds[at]), float(np.median(work.seconds[at])))


def _equal(work: Work) -> Finding:
    at = np.flatnonzero(work.reference != NO_VALUE)
    if not len(at):
        return Finding(Check.EQUAL, 0, why="nobody else labelled the same items")
    same = float((work.code[at] == work.reference[at]).mean())
    return _of_labels(Check.EQUAL, work, at, find_equal(work.code[at], work.reference[at]), same)


def _drift(work: Work, labels: int) -> Finding:
    """Look at how much less strict answers are labelled than expected: the mean of their labels minus the others'."""
    at = np.flatnonzero(work.reference != NO_VALUE)
    if not len(at):
        return Finding(Check.DRIFT, 0, why="nobody else labelled the same items")
    _, first, answers = np.unique(work.answer[at], return_index=True, return_inverse=True)
    order = np.argsort(first)
    last = np.zeros(len(first), dtype=np.intp)
    np.maximum.at(last, answers, at)
    values = np.bincount(answers, work.code[at].astype(np.float64) - work.reference[at]) / np.bincount(answers)
    watched = watch_drift(standardize_changes(values[order] / max(labels - 1, 1), work.topic[at[first[order]]]))
    raised = [int(last[order][number - 1]) + 1 for number in watched.raised]
    return Finding(
        Check.DRIFT, len(first), watched.position, 0.0, raised=tuple(raised), since=_first_recent(work, raised)
    )


def _of_labels(
    check: Check, work: Work, at: npt.NDArray[np.intp], numbers: Sequence[int], value: float | None = None
) -> Finding:
    raised = tuple(int(at[number - 1]) + 1 for number in numbers)
    return Finding(check, len(at), value, raised=raised, since=_first_recent(work, raised))


def _first_recent(work: Work, raised: Sequence[int]) -> int | None:
    """Return the first alarm of the last WEEK answers."""
    first = np.sort(np.unique(work.answer, return_index=True)[1])
    start = int(first[-WEEK]) if len(first) > WEEK else 0
    return next((number for number in sorted(raised) if number > start), None)
