"""Alarms on people's labels: their formulas, and on generated weeks how often they are false and how soon they come."""

import math
from statistics import median

import numpy as np
import pytest
from scipy.stats import betabinom, binomtest, chi2, chi2_contingency

from metaeval.stats import monitoring
from metaeval.stats.monitoring import WEEK, Check
from tests.metaeval.stats import monitored
from tests.metaeval.stats.monitored import NUGGETS, Fault

ASSESSORS = 200
ONE = [1] * 60  # answers with one label each


@pytest.fixture(scope="module")
def others() -> monitoring.Work:
    """The weeks of four more people."""
    rng = np.random.default_rng(7)
    return monitored.joined([monitored.play_week(rng) for _ in range(4)])


def test_log_ratios_of_single_labels_are_bernoulli() -> None:
    assert monitoring.log_ratios([1, 0], [1, 1]) == pytest.approx([math.log(0.65 / 0.85), math.log(0.35 / 0.15)])


def test_log_ratios_of_many_are_beta_binomial() -> None:
    ratio = 1 / monitoring.IN_AN_ANSWER - 1
    bad, good = (betabinom(10, share * ratio, (1 - share) * ratio) for share in (0.65, 0.85))
    assert monitoring.log_ratios([6, 10], [10, 10]) == pytest.approx(bad.logpmf([6, 10]) - good.logpmf([6, 10]))


@pytest.mark.parametrize(("agreed", "sizes"), [([2], [1]), ([-1], [1]), ([1], [1, 1])])
def test_no_more_than_all_agree(agreed: list[int], sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="at most all labels agree"):
        monitoring.log_ratios(agreed, sizes)


def test_sequential_test_decides_at_walds_boundaries() -> None:
    assert monitoring.watch_agreement([0] * 3, ONE[:3]).raised == ()
    assert monitoring.watch_agreement([0] * 4, ONE[:4]).raised == (4,)  # 4 x 0.847 > log 19 = 2.944
    assert monitoring.watch_agreement([1] * 10, ONE[:10]).cleared == ()
    assert monitoring.watch_agreement([1] * 11, ONE[:11]).cleared == (11,)  # 11 x 0.268


def test_after_it_accepts_a_chart_goes_on_from_0() -> None:
    watched = monitoring.watch_agreement([1] * 30 + [0] * 6, ONE[:36])
    assert (watched.cleared, watched.raised) == ((11,), (36,))  # 6 x 0.847 > log 99 = 4.595
    assert monitoring.standing_since(watched) == 36


def test_an_alarm_stands_until_the_test_accepts_again() -> None:
    watched = monitoring.watch_agreement([0] * 4 + [1] * 11, ONE[:15])
    assert (watched.raised, watched.cleared) == ((4,), (15,))
    assert monitoring.standing_since(watched) is None
    assert monitoring.standing_since(monitoring.watch_agreement([], [])) is None


def test_page_s_sums_go_up_and_down() -> None:
    up, down = monitoring.watch_drift([2.0] * 7), monitoring.watch_drift([np.nan, *[-2.0] * 6])
    assert (up.raised, up.position) == ((7,), 0)  # 7 x (2 - 0.5) > 10
    assert (down.raised, down.position) == ((), pytest.approx(-9))


def test_changes_are_standard_normal_where_topics_differ() -> None:
    rng = np.random.default_rng(3)
    topics = np.repeat(np.arange(40), 50)
    values = 0.3 + 0.1 * (rng.normal(0, 1, 2000) + np.repeat(rng.normal(0, monitoring.BY_TOPIC**0.5, 40), 50))
    found = monitoring.standardize_changes(values, topics)
    assert np.isnan(found[:10]).all()
    of_all = found[10:]
    assert (of_all.mean(), of_all.std()) == (pytest.approx(0, abs=0.05), pytest.approx(1, abs=0.05))
    assert np.corrcoef(of_all[1:], of_all[:-1])[0, 1] == pytest.approx(0, abs=0.05)


def test_changes_say_nothing_where_nothing_changes() -> None:
    assert np.isnan(monitoring.standardize_changes([0.5] * 30, [1] * 30)).all()
    with pytest.raises(ValueError, match="each value has a topic"):
        monitoring.standardize_changes([0.5], [1, 1])


def test_alpha_is_spent_as_lan_and_demets_say() -> None:
    assert monitoring.spend(0.5, 0.025) == pytest.approx(0.025 * math.log(1 + (math.e - 1) * 0.5))
    assert [monitoring.spend(of, 0.05) for of in (0, 1, 7)] == [0, pytest.approx(0.05), pytest.approx(0.05)]


def test_labels_of_a_cluster_count_less() -> None:
    assert monitoring.effective_number([10, 10], 0) == 20
    assert monitoring.effective_number([10, 10], 1) == pytest.approx(2)
    assert monitoring.effective_number([30, 10], 0.1) == pytest.approx(40 / (1 + 0.1 * 24))
    assert monitoring.effective_number([], 0.1) == 0


def test_binomial_tails_are_exact() -> None:
    low, high = monitoring.binomial_p(0.4, 10, 0.6)
    assert low == pytest.approx(binomtest(4, 10, 0.6, "less").pvalue)
    assert high == pytest.approx(binomtest(4, 10, 0.6, "greater").pvalue)
    assert monitoring.binomial_p(0.45, 10.9, 0.6) == (  # 4.9 of 10
        pytest.approx(binomtest(5, 10, 0.6, "less").pvalue),
        pytest.approx(binomtest(4, 10, 0.6, "greater").pvalue),
    )
    assert monitoring.binomial_p(0, 10, 0.6)[1] == 1


def test_looks_at_a_share_spend_alpha_once_a_week() -> None:
    topics = 16
    never, half, sizes, answers = [0.0] * topics, [50.0] * topics, [100] * topics, [45] * topics
    found = monitoring.watch_share(never, half, sizes, answers, 1000, 0.1)
    # Of one topic count 100 / (1 + 99 x 0.1) = 9.17 labels, of two 18: 2 x 0.5 ** 18 is less than what is left.
    assert found.raised[:2] == (2, 3)
    assert (found.value, found.expected, found.n) == (0, 0.5, 800)  # of the second week alone
    assert (set(range(2, 9)) | set(range(10, 17))) == set(found.raised)
    assert monitoring.watch_share(half, half, sizes, answers, 1000, 0.1).raised == ()
    assert monitoring.watch_share(sizes, half, sizes, answers, 1000, 0.1).raised[0] == 2
    assert monitoring.watch_share(sizes, half, sizes, answers, 1000, 0.1, is_two_sided=False).raised == ()
    # 122 of 200 has p = 0.0023: less than the second look may spend with the first one, more than it adds.
    assert monitoring.spend(0.125) < 0.0023 < monitoring.spend(0.25)
    assert monitoring.watch_share([50, 72], [50, 50], [100, 100], [45, 45], 1e9, 0).raised == ()
    assert monitoring.watch_share([50, 76], [50, 50], [100, 100], [45, 45], 1e9, 0).raised == (2,)
    more_people = monitoring.watch_share(never, half, sizes, answers, 1000, 0.1, 10_000)
    assert more_people.raised[0] > 2
    assert monitoring.watch_share(never, half, sizes, answers, 0, 0.1).why == "no other person has such labels yet"


def test_equal_labels_in_a_row_are_found_where_others_gave_other_ones() -> None:
    row = [1, *[0] * 25, 2, *[0] * 25]
    assert monitoring.find_equal(row, row) == ()
    differing = [1, *[0] * 25, 2, *[0] * 4, *[1] * 9, *[0] * 12]
    assert monitoring.find_equal(row, differing) == (1 + 25 + 1 + 20,)  # 11 of 20 are 0
    differing[31] = 0
    assert monitoring.find_equal(row, differing) == ()  # 12 of 20
    assert monitoring.find_equal([0] * 19, [1] * 19) == ()
    assert monitoring.find_equal([0] * 20, [1] * 20) == (20,)
    assert monitoring.find_equal([], []) == ()


def test_fast_labels_in_a_row_are_found() -> None:
    assert monitoring.find_fast([1] * 19 + [2] + [1] * 19) == ()
    assert monitoring.find_fast([9] + [1] * 45 + [2] + [0] * 20) == (21, 67)
    assert monitoring.find_fast([]) == ()


def test_few_careful_assessors_raise_an_alarm_in_a_week(others: monitoring.Work) -> None:
    rng = np.random.default_rng(1)
    found = [monitored.watch(monitored.play_week(rng), others) for _ in range(ASSESSORS)]
    assert sum(any(one.raised for one in of_one) for of_one in found) <= 0.05 * ASSESSORS
    agreement = np.mean([of_one[0].value for of_one in found])
    assert agreement == pytest.approx(0.9, abs=0.01)
    assert {of_one[0].n for of_one in found} == {180}  # 5 % of the answers, with 10 labels each


def test_few_raise_one_where_nobody_else_labelled_the_same(others: monitoring.Work) -> None:
    rng = np.random.default_rng(2)
    alone = monitored.unpaired(others)
    false = 0
    for _ in range(ASSESSORS):
        week = monitored.play_week(rng)
        found = monitored.watch(week._replace(work=monitored.unpaired(week.work)), alone)
        false += any(one.raised for one in found)
        assert [one.check for one in found if one.why] == [Check.MODEL, Check.EQUAL, Check.DRIFT]
    assert false <= 0.05 * ASSESSORS


@pytest.mark.parametrize(
    ("constant", "value"), [("DRIFT_LIMIT", 4), ("LIMIT", 1), ("IN_A_TOPIC_EXPECTED", 0), ("USUAL", 0.95)]
)
def test_more_do_with_other_constants(
    others: monitoring.Work, constant: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, constant, value)
    rng = np.random.default_rng(1)
    found = [monitored.watch(monitored.play_week(rng), others, people=1) for _ in range(60)]
    assert sum(any(one.raised for one in of_one) for of_one in found) > 0.1 * 60


@pytest.mark.parametrize("after", [0, 150])
def test_whoever_grows_careless_is_found_within_40_labels_given_again(after: int) -> None:
    """They agree with themselves in about 62 %, from the start and after the test has accepted them."""
    rng = np.random.default_rng(5)
    late = []
    for _ in range(ASSESSORS):
        week = monitored.play_week(rng, Fault(after, again=0.3), every=10)
        before = sum(answer <= after for answer in week.again)
        raised = monitoring.watch_agreement(week.agreed, week.sizes).raised
        late.append(next((number - before for number in raised if number > before), math.inf) * NUGGETS)
    assert median(late) <= 40


def test_single_labels_need_as_many() -> None:
    """At the very agreement that is bad, after a hundred labels at a careful one."""
    rng = np.random.default_rng(6)
    late = []
    for _ in range(ASSESSORS):
        agreed = np.r_[rng.random(100) < 0.9, rng.random(300) < monitoring.BAD].astype(int)
        raised = monitoring.watch_agreement(agreed, np.ones(400)).raised
        late.append(next((number - 100 for number in raised if number > 100), math.inf))
    assert median(late) <= 40


@pytest.mark.parametrize(
    ("fault", "check", "answers"),
    [
        (Fault(100, is_fast=True), Check.SPEED, 3),
        (Fault(100, is_uniform=True), Check.EQUAL, 10),
        (Fault(155, shift=1.0), Check.DRIFT, 45),  # in the middle of a topic
        (Fault(0, is_uniform=True), Check.SHARES, WEEK),
        (Fault(0, again=0.6), Check.MODEL, WEEK),
    ],
)
def test_faults_are_found(others: monitoring.Work, fault: Fault, check: Check, answers: int) -> None:
    """Nine of ten, by the check that is for it, within so many answers."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(40):
        week = monitored.play_week(rng, fault)
        raised = [at for one in monitored.watch(week, others) if one.check == check for at in one.raised]
        found += any(fault.after < at / NUGGETS <= fault.after + answers for at in raised)
    assert found >= 36


def test_an_alarm_of_labels_stands_for_a_week_of_answers() -> None:
    rng = np.random.default_rng(9)
    week = monitored.play_week(rng)
    work = week.work._replace(seconds=np.where(np.arange(len(week.work.code)) < 40, 1.0, 9.0))
    twice = monitoring.Work(*(np.tile(column, 2) for column in work[:-1]), work.finished)
    twice = twice._replace(
        answer=np.r_[work.answer, work.answer + WEEK], seconds=np.r_[work.seconds, np.full(len(work.code), 9.0)]
    )
    for of_one, since in ((work, 20), (twice, None)):
        speed = next(
            one
            for one in monitoring.watch(of_one, monitored.joined([week]), monitored.LABELS, [], [])
            if one.check == Check.SPEED
        )
        assert speed.raised
        assert speed.since == since


def test_what_can_t_be_looked_at_says_why() -> None:
    nothing = np.zeros(0, dtype=np.int8)
    empty = monitoring.Work(
        nothing.astype(int), nothing.astype(int), nothing, nothing.astype(float), nothing, nothing.astype(bool), []
    )
    found = {one.check: one for one in monitoring.watch(empty, empty, 3, [], [])}
    assert {check: one.why for check, one in found.items()} == {
        Check.AGREEMENT: "nothing was labelled again, and no label is gold",
        Check.SHARES: "no topic is signed off",
        Check.MODEL: "no topic is finished by both",
        Check.SPEED: "the time of no label was measured",
        Check.EQUAL: "nobody else labelled the same items",
        Check.DRIFT: "nobody else labelled the same items",
    }
    assert not any(one.raised or one.since for one in found.values())


def test_shares_of_two_sets_are_compared_as_by_pearson() -> None:
    first, second = [[10, 2, 8], [12, 3, 15]], [[20, 5, 5], [9, 9, 2], [1, 1, 8]]
    pearson = chi2_contingency([np.sum(first, axis=0), np.sum(second, axis=0)], correction=False).pvalue
    assert monitoring.compare_shares(first, second, correlation=0) == pytest.approx(pearson)
    clustered = monitoring.compare_shares(first, second)
    assert clustered is not None
    assert clustered > pearson
    assert monitoring.compare_shares([[5, 0]], [[7, 0]]) is None
    assert monitoring.compare_shares([[5, 2]], [[0, 0]]) is None


@pytest.mark.parametrize("freedom", range(1, 9))
def test_chi_squared_p_is_scipys(freedom: int) -> None:
    statistics = [0, 1e-6, 0.5, 3, 12, 100, 1_400]
    found = [monitoring.chi_squared_p(statistic, freedom) for statistic in statistics]
    assert found == pytest.approx(chi2.sf(statistics, freedom).tolist(), rel=1e-12)


def test_topics_that_differ_are_no_other_labels() -> None:
    """As much as those of the TREC 2024 RAG track: a correlation of 0.085 between labels of a topic."""
    rng = np.random.default_rng(8)
    shares = np.array([0.6, 0.05, 0.35]) * (1 / 0.085 - 1)
    few = []
    for _ in range(500):
        first, second = (np.array([rng.multinomial(600, rng.dirichlet(shares)) for _ in range(10)]) for _ in range(2))
        few.append(monitoring.compare_shares(first, second) <= 0.01)
    assert np.mean(few) <= 0.02
    other = [rng.multinomial(600, rng.dirichlet(shares[::-1])) for _ in range(20)]
    assert monitoring.compare_shares(first, other) <= 0.01
