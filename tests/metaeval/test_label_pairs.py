"""Labels of conditions as arrays, and matched: what is in them, what is a pair, what has none."""

from collections import Counter

import numpy as np
import pytest

from assessor.campaigns.models import Answer, Campaign, Condition, Run, Topic
from assessor.labels.label_kind import label_kind
from assessor.scores.label_table import ItemLabels, label_table
from assessor.scores.loading import Labels
from assessor.scores.score_source import scoring_of
from assignment.actions import leave_out
from metaeval.label_pairs import match_labels, matrices, places_in_all, restrict_labels
from metaeval.stats.agreement import NO_VALUE
from nuggets.models import Nugget
from support.actions import add_sheets
from tests.assignment.scored import LABELS, auto_condition, import_banks, label, say, sheet_on
from tests.judging import judged
from tests.support.scores_helpers import row as support_row


def labels_of(condition: Condition) -> Labels:
    return scoring_of(condition.kind).load_with_labels(condition)[1]


def named(condition: Condition) -> list[tuple[str, str, str, str]]:
    """Return what stands under an assignment condition: topic, run, nugget and label."""
    kind, labels = label_kind(condition.kind), labels_of(condition)
    return sorted(
        (
            Topic.objects.get(pk=topic).qid,
            Run.objects.get(pk=run).tag,
            Nugget.objects.get(pk=item).text,
            kind.labels[at],
        )
        for topic, run, _, item, at, _ in zip(*(column.tolist() for column in labels), strict=True)
    )


def test_every_label_of_a_nugget_is_there_once(first: Condition):
    found = named(first)
    assert len(found) == sum(len(letters) for by_run in LABELS.values() for letters in by_run.values()) == 13
    assert ("t1", "team.one", "cats purr when content", "partial_support") in found
    assert ("t2", "team.two", "glass is sorted", "support") in found
    assert Counter(label for *_, label in found) == {"support": 6, "partial_support": 2, "not_support": 5}


def test_a_nugget_without_a_label_or_left_out_has_none(first: Condition, olga):
    sheet = sheet_on(first, "t1", "team.one")
    say(sheet, 0, label=None, cannot="unclear")
    assert ("t1", "team.one", "purring heals", "support") not in (found := named(first))
    assert len(found) == 12
    say(sheet, 0, adopted="not_support")
    assert ("t1", "team.one", "purring heals", "not_support") in named(first)
    nugget = Nugget.objects.get(text="kittens purr")
    leave_out(condition=first, nugget=nugget, is_out=True, reason="unclear", acting_user=olga)
    assert [text for *_, text, _ in named(first) if text == "kittens purr"] == []


def test_every_label_of_a_citation_is_there_once(first_support: Condition):
    labels = labels_of(first_support)
    kind = label_kind("support")
    assert kind.labels == ("none", "partial", "full")
    found = {
        (Answer.objects.get(pk=owner).run.tag, Topic.objects.get(pk=topic).qid, item >> 24, item % (1 << 24)): code
        for topic, owner, item, code in zip(
            *(column.tolist() for column in (labels.topic, labels.owner, labels.item, labels.code)), strict=True
        )
    }
    # The one that was not worth verifying is no label.
    assert found == {
        ("team.one", "t1", 0, 0): 1,
        ("team.one", "t1", 1, 0): 2,
        ("team.two", "t1", 0, 0): 2,
        ("team.two", "t1", 1, 0): 1,
        ("team.two", "t1", 2, 0): 0,
        ("team.two", "t1", 2, 1): 2,
        ("team.two", "t2", 0, 0): 2,
    }
    assert (labels.run == [Answer.objects.get(pk=owner).run_id for owner in labels.owner.tolist()]).all()


def test_what_a_run_answered_itself_goes_before_a_text_apart(first_support: Condition):
    own = judged(first_support, "team.two", "t2")
    answer = own.answer
    apart = Answer.objects.create(
        run=answer.run, topic=answer.topic, words=1, content=answer.content, references=answer.references,
        apart=True, import_record=answer.import_record,
    )  # fmt: skip
    add_sheets([support_row(first_support, apart, ["n"])])
    labels = labels_of(first_support)
    assert labels.code[labels.topic == answer.topic_id].tolist() == [2]
    assert apart.pk not in labels.owner


def test_pairs_are_of_the_same_nugget_in_the_same_answer(first: Condition, second: Condition):
    say(sheet_on(second, "t2", "team.one"), 1, label=None)
    found = match_labels(labels_of(first), labels_of(second))
    matrix = matrices(np.zeros(len(found.first)), 1, found.first, found.second, 3)[0]
    # Rows: not, partial, support of the first.
    assert matrix.tolist() == [[5, 0, 0], [0, 0, 1], [2, 0, 4]]
    assert found.unmatched == (1, 0)
    by_topic = Counter(Topic.objects.get(pk=pk).qid for pk in found.topic.tolist())
    assert by_topic == {"t1": 9, "t2": 3}


def test_conditions_on_other_nuggets_have_no_pairs(first: Condition, answered: Campaign, import_file):
    others = label(auto_condition(import_banks(answered, import_file, name="Others"), "Third"))
    found = match_labels(labels_of(first), labels_of(others))
    assert (len(found.first), found.unmatched) == (0, (13, 13))


def test_pairs_are_of_the_same_citation(first_support: Condition, second_support: Condition):
    found = match_labels(labels_of(first_support), labels_of(second_support))
    pairs = Counter(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert pairs == {(1, 1): 1, (2, 0): 1, (2, 2): 2, (1, 2): 1, (0, 0): 1}
    # The first alone labels 2.1, which the second was asked, the second alone 3.0, not worth verifying for the first.
    assert found.unmatched == (1, 1)


def columns(**given: list[int]) -> Labels:
    size = len(given["item"])
    return Labels(*(np.array(given.get(name, [0] * size)) for name in Labels._fields))


def test_names_of_two_parts_are_told_apart():
    one = columns(owner=[1, 1, 2], item=[1, 2, 1], code=[0, 1, 2])
    other = columns(owner=[2, 1, 2], item=[1, 2, 2], code=[2, 0, 1])
    found = match_labels(one, other)
    assert sorted(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(1, 0), (2, 2)]
    assert found.unmatched == (1, 1)


def test_what_all_judges_label_stands_in_the_same_order():
    sides = [columns(item=[5, 3, 9]), columns(item=[9, 5]), columns(item=[1, 9, 5])]
    size, places = places_in_all(sides)
    assert size == 2
    assert [side.item[at].tolist() for side, at in zip(sides, places, strict=True)] == [[5, 9]] * 3
    assert places_in_all([columns(item=[]), columns(item=[4])])[0] == 0


def test_names_may_be_text():
    one = columns(item=[0, 0])._replace(item=np.array(["d1", "d2"], dtype=object), code=np.array([3, 1]))
    other = columns(item=[0])._replace(item=np.array(["d2"], dtype=object), code=np.array([0]))
    found = match_labels(one, other)
    assert (found.first.tolist(), found.second.tolist(), found.unmatched) == ([1], [0], (1, 0))


def test_a_restriction_keeps_what_is_asked_for():
    labels = columns(topic=[1, 1, 2], run=[7, 8, 7], item=[1, 2, 3])
    assert restrict_labels(labels, [7], [1, 2]).item.tolist() == [1, 3]
    assert restrict_labels(labels, None, [1]).item.tolist() == [1, 2]
    assert restrict_labels(labels, [], [1]).item.tolist() == []


@pytest.mark.parametrize("groups", [1, 3])
def test_pairs_are_counted_by_group(groups: int):
    chance = np.random.default_rng(7)
    group, first, second = chance.integers(0, groups, 50), chance.integers(0, 3, 50), chance.integers(0, 3, 50)
    found = matrices(group, groups, first.astype(np.int8), second.astype(np.int8), 3)
    plain = np.zeros((groups, 3, 3), dtype=int)
    for at in zip(group, first, second, strict=True):
        plain[at] += 1
    assert (found == plain).all()


@pytest.mark.parametrize("items", [["d1", "d2", "d10"], [1, 2, 10]])
def test_a_table_of_labels_has_a_column_for_each_thing_that_any_labels(items: list[object]):
    one, two, ten = items
    given = [
        {(7, ten): 2, (7, one): 0, (8, one): 1},
        {(8, one): 2, (7, two): 1},
        {},
        {(8, ten): 0, (7, one): 1, (7, ten): 2, (7, two): 0},
    ]
    labels = [
        ItemLabels(
            np.array([owner for owner, _ in said], dtype=np.int64),
            np.array([item for _, item in said], dtype=object if isinstance(one, str) else np.int64),
            np.array(list(said.values()), dtype=np.int8),
        )
        for said in given
    ]
    things = {thing for said in given for thing in said}
    found = label_table(labels)
    assert found.shape == (4, len(things))
    expected = [tuple(said.get(thing, NO_VALUE) for said in given) for thing in things]
    assert Counter(map(tuple, found.T.tolist())) == Counter(expected)
