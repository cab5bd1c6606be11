"""Agreement of labels against published and worked examples, and against other implementations."""

import math
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metaeval.stats.agreement import (
    NO_VALUE,
    Level,
    Weights,
    cohen_kappa,
    confusion_matrix,
    count_labels,
    kappa,
    krippendorff_alpha,
    match_rate,
    percent,
    rate_agreement,
)
from metaeval.stats.statistic import Statistic

ORACLE_WEIGHTS = {Weights.UNWEIGHTED: None, Weights.LINEAR: "linear", Weights.QUADRATIC: "quadratic"}


@pytest.mark.parametrize(
    ("matrix", "kappas", "match"),
    [
        ([[20, 5], [10, 15]], (0.4, 0.4, 0.4), 0.7),
        # Support of the TREC 2024 RAG track, people and GPT-4o, judged from scratch and post-edited (arXiv 2504.15205).
        ([[2050, 601, 101], [663, 802, 187], [397, 1018, 923]], (0.334659, 0.42558, 0.513935), 0.5599228715514684),
        ([[1562, 198, 52], [221, 779, 76], [262, 353, 662]], (0.56795, 0.596743, 0.624392), 0.7210084033613445),
        ([[0, 5], [5, 0]], (-1, -1, -1), 0),
    ],
)
def test_kappa_of_worked_examples(matrix: list[list[int]], kappas: tuple[float, ...], match: float):
    found = rate_agreement(matrix)
    assert (found.unweighted.value, found.linear.value, found.quadratic.value) == pytest.approx(kappas, abs=5e-7)
    assert found.match.value == pytest.approx(match, abs=1e-15)
    assert found.match.n == found.linear.n == sum(map(sum, matrix))


def test_labels_in_descending_order_give_the_same_kappa():
    ascending = np.array([[2050, 601, 101], [663, 802, 187], [397, 1018, 923]])[::-1, ::-1]
    assert kappa(ascending, Weights.QUADRATIC).value == pytest.approx(0.513935, abs=5e-7)


def test_one_label_alone_is_undefined_and_says_why():
    found = rate_agreement([[10, 0], [0, 0]])
    assert found.match == Statistic(1.0, 10)
    expected = Statistic(None, 10, "only one label was used")
    assert (found.unweighted, found.linear, found.quadratic) == (expected,) * 3


def test_no_pairs_are_undefined_in_everything():
    found = rate_agreement(confusion_matrix([], [], 3))
    assert set(found[1:]) == {Statistic(None, 0, "no pairs")}


def test_the_first_judge_has_the_rows_and_a_lenient_second_one_is_above_the_diagonal():
    first, second = [0, 0, 0, 1, 2, 2], [0, 1, 2, 1, 2, 0]
    matrix = confusion_matrix(first, second, 3)
    assert matrix.tolist() == [[1, 1, 1], [0, 1, 0], [1, 0, 1]]
    found = rate_agreement(matrix)
    assert (found.match, found.above, found.below) == (Statistic(3 / 6, 6), Statistic(2 / 6, 6), Statistic(1 / 6, 6))
    assert match_rate(first, second, 3) == Statistic(3 / 6, 6)
    assert percent(matrix)[0].tolist() == pytest.approx([100 / 6] * 3)


def test_percent_of_nothing_is_undefined():
    assert np.isnan(percent(np.zeros((2, 2)))).all()


def cohen_kappa_score(*labels: Any, **how: Any) -> float:
    """Return scikit-learn's kappa. To load it takes a second, here of the process alone that asks."""
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(*labels, **how))


def test_a_label_that_nobody_used_keeps_its_place():
    assert count_labels([0, 2, 2], 4).tolist() == [1, 0, 2, 0]
    # Between 0 and 2 is 1: each of the two disagreements weighs 4, not 1.
    first, second = [0, 2, 0, 2, 3], [0, 2, 2, 0, 3]
    oracle = cohen_kappa_score(first, second, labels=[0, 1, 2, 3], weights="quadratic")
    assert cohen_kappa(first, second, 4, Weights.QUADRATIC).value == pytest.approx(oracle, abs=1e-12)
    assert oracle != pytest.approx(cohen_kappa_score(first, second, weights="quadratic"))


@pytest.mark.parametrize("codes", [[0, 3], [-1, 0], [0.5, 1], [math.nan, 0]])
def test_codes_of_no_label_are_refused(codes: list[float]):
    with pytest.raises(ValueError, match="codes are whole numbers from 0 to 2"):
        confusion_matrix(codes, [0, 0], 3)
    with pytest.raises(ValueError, match="codes are whole numbers from 0 to 2"):
        count_labels(codes, 3)


def test_what_is_no_pairs_is_refused():
    with pytest.raises(ValueError, match="2 labels don't pair with 3"):
        confusion_matrix([0, 1], [0, 1, 1], 2)


@pytest.mark.parametrize("matrix", [[[1, 2]], [1, 2], [], [[-1, 0], [0, 1]], [[0.5, 0], [0, 1]], [[math.nan]]])
def test_what_is_no_confusion_matrix_is_refused(matrix: list[object]):
    with pytest.raises(ValueError, match="a confusion matrix"):
        rate_agreement(matrix)


PUBLISHED = [  # Krippendorff (2011): four observers, twelve units
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(
    ("level", "expected"), [(Level.NOMINAL, 0.743421), (Level.ORDINAL, 0.815388), (Level.INTERVAL, 0.849107)]
)
def test_alpha_of_the_published_example(level: Level, expected: float):
    codes = [[NO_VALUE if value is None else value - 1 for value in row] for row in PUBLISHED]
    found = krippendorff_alpha(codes, 5, level)
    assert found.value == pytest.approx(expected, abs=5e-7)
    assert found.n == 11  # the last unit has one value


@pytest.mark.parametrize("level", Level)
def test_alpha_without_two_values_or_two_labels_is_undefined(level: Level):
    assert krippendorff_alpha([[0, 1, NO_VALUE], [NO_VALUE, NO_VALUE, 2]], 3, level) == Statistic(
        None, 0, "no unit has two values"
    )
    assert krippendorff_alpha([[1, 1, 0], [1, 1, NO_VALUE]], 3, level) == Statistic(None, 2, "only one label was used")
    assert krippendorff_alpha(np.empty((2, 0)), 3, level).value is None


@pytest.mark.parametrize("codes", [[[0, 3]], [[-2, 0]], [[0.5, 0]]])
def test_alpha_refuses_codes_of_no_label(codes: list[list[float]]):
    with pytest.raises(ValueError, match="codes are whole numbers from -1 to 2"):
        krippendorff_alpha(codes, 3)


PAIRS = st.integers(1, 5).flatmap(
    lambda labels: st.tuples(
        st.just(labels), st.lists(st.tuples(st.integers(0, labels - 1), st.integers(0, labels - 1)), max_size=40)
    )
)


def split(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


@given(PAIRS, st.sampled_from(Weights))
def test_kappa_is_what_another_implementation_says(drawn: tuple[int, list[tuple[int, int]]], weights: Weights):
    labels, pairs = drawn
    first, second = split(pairs)
    found = cohen_kappa(first, second, labels, weights)
    if len({*first, *second}) < 2:
        assert found.value is None
        assert found.why
    else:
        oracle = cohen_kappa_score(first, second, labels=range(labels), weights=ORACLE_WEIGHTS[weights])
        assert found == (pytest.approx(oracle, abs=1e-12), len(pairs), "")


@given(PAIRS, st.randoms())
def test_kappa_is_symmetric_and_knows_no_order_of_pairs(drawn, chance):
    labels, pairs = drawn
    found = rate_agreement(confusion_matrix(*split(pairs), labels))
    turned = rate_agreement(confusion_matrix(*reversed(split(pairs)), labels))
    assert (turned.match, turned.above, turned.below) == (found.match, found.below, found.above)
    chance.shuffle(pairs)
    mixed = rate_agreement(confusion_matrix(*split(pairs), labels))
    for one, other, third in zip(found[4:], turned[4:], mixed[4:], strict=True):
        assert one == third == other
        assert one.value is None or -1 - 1e-12 <= one.value <= 1
    if pairs:
        assert found.match.value + found.above.value + found.below.value == pytest.approx(1)


TABLE = st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 12)).flatmap(
    lambda size: st.tuples(
        st.just(size[0]),
        st.lists(
            st.lists(st.integers(NO_VALUE, size[0] - 1), min_size=size[2], max_size=size[2]),
            min_size=size[1],
            max_size=size[1],
        ),
    )
)


@given(TABLE, st.sampled_from(Level))
def test_alpha_is_what_another_implementation_says(drawn: tuple[int, list[list[int]]], level: Level):
    labels, codes = drawn
    found = krippendorff_alpha(codes, labels, level)
    assume(found.value is not None)
    oracle = krippendorff.alpha(
        np.where(np.array(codes) == NO_VALUE, np.nan, codes),
        value_domain=np.arange(labels),
        level_of_measurement=level.value,
    )
    assert found.value == pytest.approx(oracle, abs=1e-9)
    assert found.value <= 1


@given(TABLE, st.sampled_from(Level), st.randoms())
def test_alpha_knows_no_order_of_judges_or_units(drawn: tuple[int, list[list[int]]], level: Level, chance):
    labels, codes = drawn
    found = krippendorff_alpha(codes, labels, level)
    units = list(zip(*codes, strict=True))
    chance.shuffle(units)
    judges = [list(row) for row in zip(*units, strict=True)]
    chance.shuffle(judges)
    again = krippendorff_alpha(judges, labels, level)
    assert again.n == found.n
    assert again.value == (found.value if found.value is None else pytest.approx(found.value, abs=1e-12))


def test_who_agrees_with_oneself_has_1():
    codes = [0, 1, 2, 1]
    assert {cohen_kappa(codes, codes, 3, weights).value for weights in Weights} == {1}
    assert {krippendorff_alpha([codes, codes], 3, level).value for level in Level} == {1}
