"""Rankings without the questions that a team's own answers brought, by hand."""

import numpy as np
import pytest

from assignment.grading.team_influence import TopicGrades, leave_out_teams

A, B = frozenset({"a"}), frozenset({"b"})


def test_a_ranking_is_compared_with_that_by_the_questions_of_others():
    # Run a covers what its team brought, b its own and half of the rest.
    topics = [
        TopicGrades(np.array([[5, 4, 0, 0], [0, 3, 4, 5], [0, 0, 0, 0]], dtype=np.int8), [A, A, B, frozenset()]),
        TopicGrades(np.array([[5, 5], [0, 0], [4, 0]], dtype=np.int8), [A, A]),
    ]
    one, other = leave_out_teams(topics, ["run.a", "run.b", "run.c"])
    # All: a 0.5 and 1, b 0.5 and 0, c 0 and 0.5: 0.75, 0.25, 0.25. Without a's, on the first topic alone: 0, 1, 0.
    assert (one.team, one.questions, one.topics) == ("a", 4, 1)
    assert (one.run, one.drop) == ("run.a", 1)
    assert one.tau == pytest.approx(-0.5)
    # Without b's: a 2/3 and 1, b 1/3 and 0, c 0 and 0.5: 0.83, 0.17, 0.25.
    assert (other.team, other.questions, other.topics) == ("b", 1, 2)
    assert (other.run, other.drop) == ("run.b", 1)
    assert other.tau == pytest.approx(2 / np.sqrt(2 * 3))


def test_an_answer_that_lacks_a_grade_counts_where_it_has_all():
    topics = [
        TopicGrades(np.array([[5, 0], [4, -1]], dtype=np.int8), [A, B]),
        TopicGrades(np.array([[0], [5]], dtype=np.int8), [B]),
    ]
    of_a, of_b = sorted(leave_out_teams(topics, ["r", "s"]))
    assert (of_a.topics, of_b.topics) == (2, 1)
    # All: r 0.5 and 0, s 1 on the second. Without a's: r 0, 0, s 1 there. Without b's: 1 and 1.
    assert of_a.tau == 1
    assert of_b.tau is None


def test_nothing_is_left_where_a_team_brought_all():
    [only] = leave_out_teams([TopicGrades(np.array([[5], [0]], dtype=np.int8), [A])], ["r", "s"])
    assert (only.questions, only.topics, only.tau, only.drop) == (1, 0, None, 0)
    assert leave_out_teams([], []) == []
