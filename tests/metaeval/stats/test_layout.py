"""What is compared where cells are missing."""

import numpy as np
import pytest

from metaeval.stats.layout import Cells, lay_out
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED

C, U, I, O = COMPLETE, UNANSWERED, INCOMPLETE, OUTSIDE  # noqa: E741
# The second run answered one topic of four; the third lacks labels on one.
STATES = np.array([[C, C, C, C], [C, U, U, U], [C, C, C, I]])
SCORES = np.array([[0.9, 0.8, 0.7, 0.6], [0.5, 0.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1]])


def test_what_was_not_submitted_counts_0_and_what_lacks_labels_never_does():
    found = lay_out(SCORES, STATES, Cells.ZERO)
    assert found.scores[1].tolist() == [0.5, 0, 0, 0]
    assert np.isnan(found.scores).tolist() == [[False] * 4, [False] * 4, [False, False, False, True]]
    assert (found.unjudged, found.unanswered) == (1, 3)


def test_a_run_with_too_few_topics_is_left_out_and_the_others_count_0():
    states = STATES.copy()
    states[0, 0] = U
    scores = SCORES.copy()
    scores[0, 0] = 0
    found = lay_out(scores, states, Cells.MOST)
    assert found.runs.tolist() == [0, 2]
    assert found.scores[0].tolist() == [0, 0.8, 0.7, 0.6]
    assert (found.unjudged, found.unanswered) == (1, 1)
    assert lay_out(scores, states, Cells.MOST, least_share=0.25).runs.tolist() == [0, 1, 2]
    assert lay_out(scores, states, Cells.MOST, least_share=0.8).runs.tolist() == [2]


def test_topics_on_which_a_run_is_not_judged_by_plan_do_not_count_against_it():
    states = np.array([[C, C, C, C], [C, O, O, O], [C, U, U, O]])
    assert lay_out(SCORES, states, Cells.MOST).runs.tolist() == [0, 1]


def test_complete_topics_are_those_with_a_score_of_every_run():
    found = lay_out(SCORES, STATES, Cells.COMMON)
    assert (found.topics.tolist(), found.scores.tolist()) == ([0], [[0.9], [0.5], [0.4]])
    assert (found.unjudged, found.unanswered) == (0, 0)


def test_what_was_not_submitted_may_not_count():
    found = lay_out(SCORES, STATES, Cells.ANSWERED)
    assert np.isnan(found.scores).sum() == 4
    assert found.topics.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("cells", Cells)
def test_a_topic_without_the_measure_is_left_out(cells: Cells):
    scores = SCORES.copy()
    scores[:, 0] = np.nan
    assert 0 not in lay_out(scores, STATES, cells).topics
