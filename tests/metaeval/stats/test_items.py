"""Item analysis against plain loops and scipy, and by hand."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.items import LEAST_RUNS, Flag, cronbach_alpha, item_statistics, places_by_correlation, shorter_banks

# Four answers: the first nugget tells them apart as the rest does, the last one the other way round.
BY_HAND = [[1, 1, 0.5, 0, 0, 1], [1, 1, 0, 0, 0, 1], [0, 0.5, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1]]


def generated(seed: int, runs: int = 12, nuggets: int = 7) -> np.ndarray:
    """Return values that rise with how good a run is, and noise."""
    draw = np.random.default_rng(seed)
    good = np.linspace(-1, 1, runs)[:, np.newaxis]
    return np.digitize(good + draw.normal(size=(runs, nuggets)), [-0.3, 0.3]) / 2


def test_by_hand():
    items = item_statistics(BY_HAND)
    assert [one.difficulty.value for one in items] == [0.5, 0.625, 0.125, 0.5, 0, 1]
    assert [one.flags for one in items] == [[], [], [], [Flag.NEGATIVE], [Flag.NEVER_FOUND], [Flag.FOUND_BY_ALL]]
    # The third: 0.5, 0, 0, 0 against sums of the others 3, 3, 2.5, 2; products of deviations by hand.
    assert items[2].correlation.value == pytest.approx(0.1875 / np.sqrt(0.1875 * 0.6875))
    assert items[0].information.value == pytest.approx(1 / 3)
    assert items[4].correlation == (None, 4, "all answers have the same value")


def test_against_loops():
    values = generated(1)
    for at, one in enumerate(item_statistics(values)):
        own = [row[at] for row in values]
        rest = [sum(v for place, v in enumerate(row) if place != at) / (len(row) - 1) for row in values]
        assert one.correlation.value == pytest.approx(stats.pearsonr(own, rest).statistic)
        assert one.difficulty.value == pytest.approx(sum(own) / len(own))
        assert one.information.value == pytest.approx(stats.tvar(own))
        assert one.correlation.n == 12


def test_answers_that_lack_a_label_are_left_out():
    values = np.vstack([BY_HAND, [np.nan, 1, 1, 1, 1, 0]])
    assert item_statistics(values) == item_statistics(BY_HAND)
    assert cronbach_alpha(values) == cronbach_alpha(BY_HAND)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[1], [0]], "the topic has no other nugget"),
        ([[1, 0], [0, 0]], "all answers have the same mean of the other nuggets"),
        ([[1, 0.5]], "only one answer has all labels"),
        ([[np.nan, 1]], "no answer has all labels"),
    ],
)
def test_a_correlation_says_why_it_is_undefined(values: list[list[float]], why: str):
    found = item_statistics(values)[0].correlation
    assert (found.value, found.why) == (None, why)


def test_rests_of_equal_labels_are_equal():
    """0.3 is not 1.3 - 1, to a computer."""
    values = [[0, 0.1, 0.1, 0.1], [1, 0.1, 0.1, 0.1]]
    assert item_statistics(values)[0].correlation.value is None


def test_places_are_by_correlation():
    values = generated(2)
    found = [one.correlation.value for one in item_statistics(values)]
    places = places_by_correlation(item_statistics(values))
    assert [found[places.index(place)] for place in range(1, len(found) + 1)] == sorted(found, reverse=True)
    # The second and third are alike, the fourth is undefined, and the last against the rest.
    some = item_statistics([[1, 1, 1, 0.5, 0], [0, 0, 0, 0.5, 1], [1, 0, 0, 0.5, 0]])
    assert places_by_correlation(some) == [3, 1, 2, 5, 4]


def test_alpha():
    values = generated(2)
    k = values.shape[1]
    own = sum(stats.tvar([row[at] for row in values]) for at in range(k))
    assert cronbach_alpha(values).value == pytest.approx(k / (k - 1) * (1 - own / stats.tvar([sum(v) for v in values])))
    # Nuggets that always agree are one; two that never do have a sum that tells nothing.
    assert cronbach_alpha([[1, 1], [0, 0], [0.5, 0.5]]).value == pytest.approx(1)
    assert cronbach_alpha([[1, 0], [0, 1]]).why == "all answers have the same sum of values"
    assert cronbach_alpha([[1], [0]]).why == "fewer than two nuggets"
    assert cronbach_alpha([[1, 0]]).why == "fewer than two answers with all labels"


@pytest.mark.parametrize("values", [[1, 0], [[2, 0], [0, 1]]])
def test_values_are_a_table_from_0_to_1(values: object):
    with pytest.raises(ValueError, match="values"):
        item_statistics(values)  # type: ignore[arg-type]  # on purpose


def test_shorter_banks_against_loops():
    """One split: the halves, choices and taus of the two ways round, run by run."""
    runs, seed = 9, 5
    topics = [generated(3, runs, 4), generated(4, runs, 3), np.zeros((runs, 1))]
    topics[1][2] = np.nan  # a run that did not answer
    found = shorter_banks(topics, seed=seed, splits=1)
    place = np.random.default_rng(seed).permuted(np.arange(runs)[np.newaxis], axis=1)[0]
    halves = [[run for run in range(runs) if place[run] < runs // 2], [run for run in range(runs) if place[run] >= 4]]
    for point in found:
        taus = []
        for chooses, tested in (halves, halves[::-1]):
            kept = [_best(values, chooses, point.nuggets) for values in topics]
            short = [_score(topics, run, kept) for run in tested]
            whole = [_score(topics, run, [range(values.shape[1]) for values in topics]) for run in tested]
            taus.append(stats.kendalltau(short, whole).statistic)
        assert point.best.mean == pytest.approx(np.nanmean(taus)), point.nuggets
    assert [point.nuggets for point in found] == [1, 2, 3, 4]
    assert [point.share for point in found] == [3 / 8, 5 / 8, 7 / 8, 1]
    assert found[-1].best.mean == pytest.approx(1)
    assert found[-1].random.mean == pytest.approx(1)


def _best(values: np.ndarray, runs: list[int], size: int) -> list[int]:
    found = []
    judged = [run for run in runs if not np.isnan(values[run]).any()]
    for at in range(values.shape[1]):
        own = [values[run][at] for run in judged]
        rest = [sum(np.delete(values[run], at)) for run in judged]
        if len(set(own)) < 2 or len({round(one, 9) for one in rest}) < 2:
            found.append((2.0, at))
        else:
            found.append((-round(stats.pearsonr(own, rest).statistic, 9), at))
    return [at for _, at in sorted(found)][:size]


def _score(topics: list[np.ndarray], run: int, kept: list) -> float:
    of_topics = [
        sum(values[run][at] for at in some) / len(some)
        for values, some in zip(topics, kept, strict=True)
        if not np.isnan(values[run]).any()
    ]
    return round(sum(of_topics) / len(of_topics), 9)


def test_good_nuggets_do_better_than_random_ones():
    """Where half of the nuggets are noise, those that go with the rest rank runs better."""
    draw = np.random.default_rng(0)
    good = np.linspace(0, 1, 24)[:, np.newaxis]
    topics = [
        np.hstack([good + draw.normal(0, 0.3, (24, 5)) > 0.5, draw.random((24, 5)) > 0.5]).astype(float)
        for _ in range(10)
    ]
    found = shorter_banks(topics, seed=1)
    assert found == shorter_banks(topics, seed=1)
    one = found[0]
    assert one.best.mean is not None
    assert one.random.mean is not None
    assert one.best.mean > one.random.mean + 0.1
    assert all(one.share < other.share for one, other in pairwise(found))


def test_too_few_runs_are_refused():
    with pytest.raises(ValueError, match=f"{LEAST_RUNS} runs at least, not 5"):
        shorter_banks([generated(1, 5)], seed=1)
    with pytest.raises(ValueError, match="not 0"):
        shorter_banks([], seed=1)
