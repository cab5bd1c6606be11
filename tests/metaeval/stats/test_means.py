"""Standard errors of runs' means over topics."""

import numpy as np
import pytest

from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Policy, run_errors, standard_error

NAN = np.nan


def test_the_standard_error_is_that_of_what_is_there():
    # 2, 4, 4, 4, 5, 5, 7, 9: squares of differences from the mean 5 add up to 32.
    found = standard_error(np.array([[2, 4, 4, 4, 5, 5, 7, 9, NAN], [1] * 9]), axis=1)
    assert found.tolist() == pytest.approx([(32 / 7) ** 0.5 / 8**0.5, 0])


@pytest.mark.parametrize("scores", [[0.5], [0.5, NAN], [NAN, NAN], []])
def test_there_is_none_of_fewer_than_two_topics(scores: list[float]):
    assert np.isnan(standard_error(np.array([scores]), axis=1)).all()


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(Policy.ZERO, [(0.5 / 3 / 2) ** 0.5 / 3**0.5, 0.25]), (Policy.ANSWERED, [0, NAN])],
)
def test_what_counts_in_a_standard_error_is_what_counts_in_the_mean(policy: Policy, expected: list[float]):
    """By zero 0.5, 0.5, 0 (mean 1/3) and 0.5, 0; without what is unanswered 0.5, 0.5 and 0.5 alone."""
    scores = np.array([[0.5, 0.5, 0, 1], [0.5, 0, NAN, 1]])[..., np.newaxis]
    states = np.array([[COMPLETE, COMPLETE, UNANSWERED, OUTSIDE], [COMPLETE, UNANSWERED, INCOMPLETE, OUTSIDE]])
    found = run_errors(scores, states, policy)[:, 0]
    assert found.tolist() == pytest.approx(expected, nan_ok=True)
