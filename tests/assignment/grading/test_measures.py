"""The measures of graded questions, on arrays."""

import numpy as np
import pytest

from assignment.grading.measures import GRADE_SCORES, contributions, grade_scores
from assignment.measures import best_of_passages

KEYS = GRADE_SCORES.keys


def scores(grades, **more) -> dict[str, list[float]]:
    return dict(zip(KEYS, grade_scores(grades, **more).T.tolist(), strict=True))


# Published test vectors of RUBRIC: grades of one answer, its largest and mean grade, cover from 4 and from 5.
@pytest.mark.parametrize(
    ("grades", "largest", "mean", "cover4", "cover5"),
    [
        ([5, 4, 0, 3], 5, 3, 0.5, 0.25),
        ([2, 2, 2, 2], 2, 2, 0, 0),
        ([0, 0, 0, 0], 0, 0, 0, 0),
        ([5, 0, 0, 0], 5, 1.25, 0.25, 0.25),
        ([4], 4, 4, 1, 0),
        (best_of_passages([[5, 0, 1], [0, 4, 1]]), 5, 10 / 3, 2 / 3, 1 / 3),
    ],
)
def test_largest_and_mean_grade_and_cover(grades, largest: int, mean: float, cover4: float, cover5: float):
    found = scores([grades])
    assert found["MAX_GRADE"] == [largest]
    assert found["AVG_GRADE"] == pytest.approx([mean])
    assert found["NUGGET_COVERAGE"] == pytest.approx([cover4])
    assert found["NUGGET_COVERAGE_5"] == pytest.approx([cover5])
    assert found["COVERED_COUNT"] == pytest.approx([cover4 * len(grades)])


def test_cover_of_every_least_grade():
    found = scores([[0, 1, 2, 3, 4, 5]])
    assert [found[f"NUGGET_COVERAGE_{least}"] for least in (1, 2, 3, 5)] == [[5 / 6], [4 / 6], [3 / 6], [1 / 6]]
    assert found["NUGGET_COVERAGE"] == [2 / 6]
    assert (KEYS[0], "NUGGET_COVERAGE_4" in KEYS) == ("NUGGET_COVERAGE", False)


def test_n_cover_is_over_what_any_answer_reaches():
    found = scores([[5, 0, 4, 0], [4, 0, 0, 3], [0, 0, 0, 0]])
    assert found["N_COVER_4"] == [1, 0.5, 0]
    assert found["N_COVER_3"] == [2 / 3, 2 / 3, 0]
    assert found["N_COVER_5"] == [1, 0, 0]


def test_n_cover_is_0_where_no_answer_reaches_a_question():
    assert scores([[3, 3], [0, 1]])["N_COVER_4"] == [0, 0]


def test_what_a_control_run_reaches_does_not_count_as_reached():
    grades, reaches = [[5, 0, 0], [5, 5, 5]], [True, False]
    assert scores(grades)["N_COVER_4"] == [1 / 3, 1]
    assert scores(grades, reaches=reaches)["N_COVER_4"] == [1, 1]


def test_an_answer_without_all_grades_has_no_score_and_what_it_reaches_counts():
    found = scores([[5, -1], [0, 4]], words=[3, 4])
    assert np.isnan([found[key][0] for key in KEYS]).all()
    assert (found["N_COVER_4"][1], found["NUGGET_COVERAGE"][1], found["length"][1]) == (0.5, 0.5, 4)


# Vital 2, okay 1: worked by hand, of five questions.
@pytest.mark.parametrize(
    ("importance", "weighted"),
    [
        ([1, 1, 0, 0, 0], [2 / 7, 3 / 7, 0]),
        ([0, 1, 1, 1, 1], [1 / 9, 4 / 9, 0]),
        ([1] * 5, [1 / 5, 2 / 5, 0]),
        ([0] * 5, [1 / 5, 2 / 5, 0]),
    ],
)
def test_weighted_cover_counts_vital_questions_twice(importance: list[int], weighted: list[float]):
    grades = [[5, 3, 3, 0, 0], [0, 4, 5, 3, 3], [3, 3, 0, 0, 0]]
    assert scores(grades, importance=importance)["NUGGET_COVERAGE_WEIGHTED"] == pytest.approx(weighted)


@pytest.mark.parametrize("importance", [None, [-1, -1], [1, -1]])
def test_weighted_cover_is_undefined_where_a_question_has_no_importance(importance: list[int] | None):
    found = scores([[5, 4], [0, 0]], importance=importance)
    assert np.isnan(found["NUGGET_COVERAGE_WEIGHTED"]).all()
    assert found["NUGGET_COVERAGE"] == [1, 0]


@pytest.mark.parametrize("importance", [[2, 1], [1], [[1, 1]]])
def test_what_is_no_importance_is_refused(importance: list[int]):
    with pytest.raises(ValueError, match="importance"):
        grade_scores([[5, 4]], importance=importance)


def test_without_questions_nothing_is_defined():
    assert np.isnan(grade_scores(np.zeros((2, 0)))).all()


@pytest.mark.parametrize("grade", [6, -2, 4.5])
def test_what_is_no_grade_is_refused(grade: float):
    with pytest.raises(ValueError, match="grades are whole numbers from -1 to 5"):
        grade_scores([[grade]])


@pytest.mark.parametrize(("importance", "weight"), [(1, 1), (0, 0.5), (-1, 0)])
def test_what_a_grade_contributes(importance: int, weight: float):
    assert contributions(3, importance) == {
        "NUGGET_COVERAGE": (0, 1),
        "AVG_GRADE": (3, 1),
        "NUGGET_COVERAGE_WEIGHTED": (0, weight),
        "NUGGET_COVERAGE_1": (1, 1),
        "NUGGET_COVERAGE_2": (1, 1),
        "NUGGET_COVERAGE_3": (1, 1),
        "NUGGET_COVERAGE_5": (0, 1),
    }
    assert contributions(5, importance)["NUGGET_COVERAGE_WEIGHTED"] == (1, weight)
