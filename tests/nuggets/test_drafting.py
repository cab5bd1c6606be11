"""The pure parts of how a model comes to its nuggets."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.drafting import Step, brought_by, in_batches, ranked, shuffled

_TEXTS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("count", "size", "lengths"), [(0, 10, []), (1, 10, [1]), (10, 10, [10]), (21, 10, [10, 10, 1]), (3, 1, [1, 1, 1])]
)
def test_batches_hold_everything_in_order(count: int, size: int, lengths: list[int]):
    batches = in_batches(list(range(count)), size)
    assert [len(batch) for batch in batches] == lengths
    assert [item for batch in batches for item in batch] == list(range(count))


def test_vital_nuggets_come_first_and_else_the_models_order_stands():
    labels = ["okay", "vital", "okay", "vital", "okay"]
    found = ranked(["a", "b", "c", "d", "e"], labels, 4)
    assert found == [(2, "b", "vital"), (4, "d", "vital"), (1, "a", "okay"), (3, "c", "okay")]


def test_equal_texts_are_told_apart_by_their_place():
    assert ranked(["a", "a"], ["okay", "vital"], 20) == [(2, "a", "vital"), (1, "a", "okay")]


def test_each_nugget_needs_a_label():
    with pytest.raises(ValueError, match="argument"):
        ranked(["a", "b"], ["vital"], 20)


@given(st.lists(st.sampled_from(["vital", "okay"]), max_size=30), st.integers(1, 40))
def test_the_ranking_is_stable_and_keeps_the_best(labels: list[str], most: int):
    found = ranked([str(place) for place in range(1, len(labels) + 1)], labels, most)
    assert len(found) == min(most, len(labels))
    assert all(nugget.text == str(nugget.place) and labels[nugget.place - 1] == nugget.importance for nugget in found)
    vital = [place for place, label in enumerate(labels, start=1) if label == "vital"]
    okay = [place for place, label in enumerate(labels, start=1) if label == "okay"]
    assert [nugget.place for nugget in found] == (vital + okay)[:most]


def test_a_nugget_is_of_the_first_step_whose_list_had_it():
    steps = [Step(["d1"], ["a", "b"]), Step(["d2"], ["b", "c", "c"]), Step(["d3"], ["c", "a", "c", "d", "b"])]
    assert brought_by(steps) == [1, 0, 1, 2, 0]


def test_the_second_of_two_equal_nuggets_is_of_the_step_that_doubled_it():
    assert brought_by([Step([], ["a"]), Step([], ["a", "a"]), Step([], ["a", "a", "a"])]) == [0, 1, 2]


@given(st.lists(_TEXTS, min_size=1, max_size=5))
def test_no_earlier_step_had_as_many_of_a_nugget(lists: list[list[str]]):
    steps = [Step([], nuggets) for nuggets in lists]
    met: Counter[str] = Counter()
    for text, number in zip(lists[-1], brought_by(steps), strict=True):
        met[text] += 1
        assert lists[number].count(text) >= met[text]
        assert all(earlier.count(text) < met[text] for earlier in lists[:number])


@given(st.integers(0, 40), st.integers(0, 2**32))
def test_a_shuffled_order_has_every_place_once_and_follows_from_its_seed(count: int, seed: int):
    assert sorted(shuffled(count, seed)) == list(range(1, count + 1))
    assert shuffled(count, seed) == shuffled(count, seed)


def test_the_order_of_a_seed_never_changes():
    """Orders are told by their seeds: another way to shuffle would make stored ones tell something else."""
    assert shuffled(6, 7) == [3, 6, 1, 4, 2, 5]


def test_seeds_differ():
    orders = {tuple(shuffled(30, seed)) for seed in range(50)}
    assert len(orders) == 50
    first = Counter(order[0] for order in orders)
    assert max(first.values()) < 10, "no place comes first much more often than others"
