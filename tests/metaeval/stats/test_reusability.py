"""Scores and ranks without what one team brought: by hand, and against plain loops."""

import numpy as np
import pytest

from metaeval.stats.correlation import kendall_tau
from metaeval.stats.reusability import (
    TopicNuggets,
    attested_alone,
    leave_out_teams,
    means_without_teams,
    tau_without_teams,
)


def test_a_nugget_is_a_teams_alone_where_no_other_team_brought_any_of_its_passages():
    contributed = [[1, 1, 0, 0], [0, 1, 1, 0]]  # the last one by nobody
    evidence = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0]]
    alone = attested_alone(contributed, evidence)
    assert alone.tolist() == [
        [True, False, False, False, False, False, False],
        [False, False, False, True, False, False, False],
    ]


def test_what_is_alone_is_that_of_a_plain_loop():
    rng = np.random.default_rng(5)
    contributed, evidence = rng.random((4, 12)) < 0.3, rng.random((40, 12)) < 0.12
    alone = attested_alone(contributed, evidence)
    assert alone.any()
    for team in range(4):
        for nugget in range(40):
            passages = np.flatnonzero(evidence[nugget])
            brought_by = [{one for one in range(4) if contributed[one, passage]} for passage in passages]
            assert alone[team, nugget] == (bool(brought_by) and all(one == {team} for one in brought_by))


def test_passages_that_differ_in_number_are_refused():
    with pytest.raises(ValueError, match="don't fit"):
        attested_alone(np.ones((2, 3)), np.ones((4, 2)))


def mean_of(values: np.ndarray):
    """Return what scores a topic by the mean of its nuggets' values."""
    return lambda keeps: values[:, keeps].mean(axis=1)[:, None]


def test_means_leave_out_nuggets_cells_and_topics():
    one, other = np.array([[1.0, 0, 0], [0, 1, 1]]), np.array([[1.0], [0.5]])
    topics = [
        TopicNuggets(mean_of(one), np.array([[1, 0, 0], [0, 0, 0]], dtype=bool)),
        TopicNuggets(mean_of(other), np.array([[0], [1]], dtype=bool)),
    ]
    cells = np.array([[[1 / 3], [1]], [[2 / 3], [0.5]]])
    without = means_without_teams(cells, topics, 2)
    # Without the first team's: 0 and 1, 1 and 0.5; without the second's the other topic has no nugget.
    assert without[..., 0] == pytest.approx(np.array([[0.5, 0.75], [1 / 3, 2 / 3]]))
    cells[1, 0] = np.nan  # lacks a label
    assert means_without_teams(cells, topics, 1)[0, :, 0] == pytest.approx([0.5, 0.5])


def test_what_changes_is_told_of_the_team_and_of_others():
    scores = [0.9, 0.8, 0.7, 0.6]
    without = [[0.65, 0.75, 0.7, 0.6], scores, [0.9, 0.8, 0.7, np.nan]]
    own = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]]
    one, other, third = leave_out_teams(scores, without, own)
    assert one.own.value == pytest.approx(-0.125)
    assert one.others.value == pytest.approx(-0.025)
    assert (one.places.value, one.run, one.drop, one.dropped) == (2, 0, 2, 0)
    assert one.tau == pytest.approx(kendall_tau(scores, without[0]))
    assert one.tau.value == pytest.approx(1 / 3)  # 2 of 6 pairs change sides
    assert (other.own.value, other.places.value, other.drop, other.dropped, other.tau.value) == (0, 0, 0, None, 1)
    assert (third.own.value, third.places.value, third.run) == (None, None, None)
    assert third.own.why == "no run of the team has both scores"


def test_a_team_all_of_whose_runs_gain_loses_less_than_no_place():
    [found] = leave_out_teams([0.5, 0.6], [[0.7, 0.6]], [[1, 0]])
    assert (found.places.value, found.drop, found.dropped) == (-1, 1, 1)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="don't fit"):
        leave_out_teams([0.5, 0.6], [[0.7, 0.6]], [[1, 0], [0, 1]])


def test_tau_without_a_team_is_that_of_the_other_runs():
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 9))
    teams = list("aabbccdde")
    found = tau_without_teams(x, y, teams)
    assert list(found) == sorted(set(teams))
    for team, tau in found.items():
        kept = [at for at, one in enumerate(teams) if one != team]
        pairs = [(i, j) for i in kept for j in kept if i < j]
        signs = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in pairs]
        assert tau.value == pytest.approx(sum(signs) / len(pairs))
        assert tau.n == len(kept)
