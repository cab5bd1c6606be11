"""What verdicts come to, and what follows without any."""

import pytest

from assessor.preference.verdicts import by_rule, preference


@pytest.mark.parametrize(
    ("verdicts", "second_stood_first", "expected"),
    [
        (("1", None), False, "1"),
        (("2", None), False, "2"),
        (("1", None), True, "2"),
        (("0", None), True, "0"),
        (("1", "2"), False, "1"),
        (("2", "1"), False, "2"),
        (("1", "2"), True, "2"),
        (("1", "1"), False, "0"),
        (("2", "2"), True, "0"),
        (("0", "2"), False, "0"),
        (("0", "0"), False, "0"),
    ],
)
def test_two_orders_that_disagree_are_a_tie(verdicts, second_stood_first: bool, expected: str):
    assert preference(verdicts, second_stood_first=second_stood_first) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("x", "y", None), ("x", " ", "1"), ("", "y", "2"), ("", " \n", "0"), ("x  y", "x y ", "0")],
)
def test_an_empty_answer_loses_and_equal_ones_tie(first: str, second: str, expected: str | None):
    assert by_rule(first, second) == expected
