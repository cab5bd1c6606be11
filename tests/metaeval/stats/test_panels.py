"""Panels, against loops by definition, and labels generated with known errors."""

from collections import Counter
from itertools import product
from statistics import median_high, median_low

import numpy as np
import numpy.typing as npt
import pytest

from metaeval.stats import panels
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.levels import tau_levels
from metaeval.stats.panels import SMOOTHING, PanelLabels, Rule, Ties

EVERY = np.array(list(product((NO_VALUE, 0, 1, 2), repeat=4)), dtype=np.int8).T  # each way four members can label
TRUE = np.array([0.5, 0.2, 0.3])
CONFUSION = np.array(
    [
        [[0.9, 0.07, 0.03], [0.15, 0.75, 0.1], [0.05, 0.1, 0.85]],
        [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.02, 0.08, 0.9]],
        [[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]],
    ]
)


def as_list(found: PanelLabels) -> list[tuple[int, bool]]:
    return list(zip(found.codes.tolist(), found.is_open.tolist(), strict=True))


def by_definition(rule: Rule, quorum: int, ties: Ties) -> list[tuple[int, bool]]:
    found = []
    for column in EVERY.T.tolist():
        given = sorted(label for label in column if label != NO_VALUE)
        if len(given) < quorum:
            found.append((NO_VALUE, False))
            continue
        votes = Counter(given)
        best = {
            Rule.MAJORITY: [label for label in votes if votes[label] == max(votes.values())],
            Rule.MEDIAN: [median_low(given), median_high(given)],
            Rule.UNANIMOUS: given,
        }[rule]
        if ties == Ties.PEOPLE and min(best) != max(best):
            found.append((NO_VALUE, True))
        else:
            found.append((max(best) if ties == Ties.LENIENT else min(best), False))
    return found


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("quorum", [1, 2, 3, 4])
def test_labels_of_a_panel_are_as_defined(quorum: int, ties: Ties):
    assert as_list(panels.majority(EVERY, 3, quorum, ties)) == by_definition(Rule.MAJORITY, quorum, ties)
    assert as_list(panels.median(EVERY, 3, quorum, ties)) == by_definition(Rule.MEDIAN, quorum, ties)
    assert as_list(panels.unanimous(EVERY, 3, quorum)) == by_definition(Rule.UNANIMOUS, quorum, Ties.PEOPLE)


def test_what_is_no_label_or_no_quorum_is_refused():
    for rule in (panels.majority, panels.median, panels.unanimous):
        with pytest.raises(ValueError, match="codes"):
            rule([[0, 3], [1, 1]], 3, 2)
        with pytest.raises(ValueError, match="a quorum of 2 members is from 1 to 2"):
            rule([[0, 1], [1, 1]], 3, 3)
        with pytest.raises(ValueError, match="a table"):
            rule([0, 1], 3, 1)


def test_mean_scores_are_over_the_members_that_are_complete():
    scores = [[[0.2, 0.4]], [[0.6, np.nan]], [[0.7, 0.0]]]  # members, cells, measures
    assert panels.mean_scores(scores, [[True], [True], [True]], 3).round(10).tolist()[0][0] == 0.5
    assert np.isnan(panels.mean_scores(scores, [[True], [True], [True]], 3)[0, 1])
    assert panels.mean_scores(scores, [[True], [False], [True]], 2).round(10).tolist() == [[0.45, 0.2]]
    assert np.isnan(panels.mean_scores(scores, [[True], [False], [True]], 3)).all()
    with pytest.raises(ValueError, match="do not fit"):
        panels.mean_scores(scores, [True, True, True], 3)
    with pytest.raises(ValueError, match="quorum"):
        panels.mean_scores(scores, [[True], [True], [True]], 4)


def test_two_judges_with_errors_of_their_own_rank_runs_better_together():
    random = np.random.default_rng(11)
    truth = random.random((30, 1)) + random.normal(0, 0.3, (30, 60))
    members = truth + random.normal(0, 0.3, (2, 30, 1)) + random.normal(0, 0.5, (2, 30, 60))
    panel = panels.mean_scores(members[..., np.newaxis], np.ones((2, 30, 60), dtype=bool), 2)[..., 0]
    alone = [tau_levels(truth, one).run.value for one in members]
    together = tau_levels(truth, panel).run.value
    assert together is not None
    assert all(one is not None and together > one for one in alone)


def labels_with_errors(items: int, seed: int = 5) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Return members' labels and the true ones."""
    random = np.random.default_rng(seed)
    true = random.choice(3, items, p=TRUE)
    draws = random.random((len(CONFUSION), items, 1))
    return (draws > CONFUSION[:, true].cumsum(axis=2)).sum(axis=2).astype(np.int8), true


def test_dawid_skene_recovers_known_confusions_and_labels():
    codes, true = labels_with_errors(60_000)
    found = panels.dawid_skene(codes, np.arange(60_000) % 12, 3)
    assert found.has_converged
    assert np.abs(found.confusion - CONFUSION).max() < 0.03
    assert np.abs(found.prior - TRUE).max() < 0.02
    labels = panels.most_likely(codes, found.posterior, 3).codes
    by_majority = panels.majority(codes, 3, 3).codes
    # The best that anybody could do with these labels knows the confusions.
    chances = np.log(TRUE) + sum(np.log(CONFUSION[at][:, codes[at]]).T for at in range(3))
    best = (chances.argmax(axis=1) == true).mean()
    assert (by_majority == true).mean() < (labels == true).mean() <= best
    assert (labels == true).mean() > best - 0.005


def test_dawid_skene_is_the_em_of_its_definition():
    codes, _ = labels_with_errors(80)
    codes[1, :30] = NO_VALUE
    found = panels.dawid_skene(codes, np.arange(80) % 10, 3)
    posterior = np.zeros((80, 3))
    for item, column in enumerate(codes.T.tolist()):
        votes = Counter(label for label in column if label != NO_VALUE)
        for label, count in votes.items():
            posterior[item, label] = count == max(votes.values())
        posterior[item] /= posterior[item].sum()
    for _ in range(found.steps):
        prior = (posterior.sum(axis=0) + SMOOTHING) / (80 + 3 * SMOOTHING)
        counts = np.full((3, 3, 3), SMOOTHING)
        for member, item in product(range(3), range(80)):
            if codes[member, item] != NO_VALUE:
                counts[member, :, codes[member, item]] += posterior[item]
        confusion = counts / counts.sum(axis=2, keepdims=True)
        for item in range(80):
            chance = prior.copy()
            for member in range(3):
                if codes[member, item] != NO_VALUE:
                    chance *= confusion[member, :, codes[member, item]]
            posterior[item] = chance / chance.sum()
    assert found.posterior == pytest.approx(posterior)
    assert found.confusion == pytest.approx(confusion)
    assert found.prior == pytest.approx(prior)


def test_dawid_skene_depends_on_no_order():
    codes, _ = labels_with_errors(500)
    topics, order = np.arange(500) % 10, np.random.default_rng(1).permutation(500)
    one = panels.dawid_skene(codes, topics, 3)
    other = panels.dawid_skene(codes[[2, 0, 1]][:, order], topics[order], 3)
    assert other.confusion == pytest.approx(one.confusion[[2, 0, 1]])
    assert other.posterior == pytest.approx(one.posterior[order])


def test_dawid_skene_is_fitted_to_what_is_asked_for():
    codes, _ = labels_with_errors(400)
    topics, half = np.arange(400) % 10, np.arange(400) < 200
    found = panels.dawid_skene(codes, topics, 3, half)
    alone = panels.dawid_skene(codes[:, half], topics[half], 3)
    assert found.confusion == pytest.approx(alone.confusion)
    assert found.posterior[:200] == pytest.approx(alone.posterior)
    assert found.posterior.shape == (400, 3)


def test_dawid_skene_smooths_what_was_never_given():
    codes = np.zeros((3, 40), dtype=np.int8)
    found = panels.dawid_skene(codes, np.arange(40) % 10, 2)
    assert found.confusion[:, 0] == pytest.approx(np.array([[41 / 42, 1 / 42]] * 3), abs=0.001)
    assert (found.confusion[:, 1] > 0.1).all()
    assert (found.posterior[:, 0] > 0.99).all()


def test_dawid_skene_is_refused_for_too_few_members_or_topics():
    codes, _ = labels_with_errors(90)
    with pytest.raises(ValueError, match="3 members at least"):
        panels.dawid_skene(codes[:2], np.arange(90) % 10, 3)
    with pytest.raises(ValueError, match="10 topics at least, and there are 9"):
        panels.dawid_skene(codes, np.arange(90) % 9, 3)
    codes[:2, np.arange(90) % 10 == 0] = NO_VALUE  # one member alone says nothing of errors
    with pytest.raises(ValueError, match="there are 9"):
        panels.dawid_skene(codes, np.arange(90) % 10, 3)


def test_equally_likely_labels_go_by_the_rule_for_ties():
    codes, posterior = [[0], [2]], [[0.4, 0.2, 0.4]]
    assert as_list(panels.most_likely(codes, posterior, 2)) == [(0, False)]
    assert as_list(panels.most_likely(codes, posterior, 2, Ties.LENIENT)) == [(2, False)]
    assert as_list(panels.most_likely(codes, posterior, 2, Ties.PEOPLE)) == [(NO_VALUE, True)]
    assert as_list(panels.most_likely([[0], [NO_VALUE]], posterior, 2)) == [(NO_VALUE, False)]
