"""Score tables as an organizer sees and downloads them."""

import re

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition, Event, Judge, Run
from assessor.runtime.process_cache import cache
from assessor.scores.cache import condition_scores, scores_with_intervals
from assessor.scores.leaderboards import FORMS, score_lines
from assignment.actions import leave_out
from metaeval.stats.bootstrap import bootstrap_means
from metaeval.stats.letters import in_short
from metaeval.stats.means import OVER, Policy
from metaeval.stats.multiple_comparisons import tukey_groups
from nuggets.models import Nugget
from tests.assignment.conftest import run_file
from tests.assignment.scored import BANKS, auto_condition, import_banks, label, say, sheet_on
from tests.conftest import client_of
from tests.scores.pages import Page, address, board, get, letters, scores_of


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def edits(answered: Campaign, import_file) -> Condition:
    return import_banks(answered, import_file)


@pytest.fixture
def auto(edits: Condition) -> Condition:
    return label(auto_condition(edits))


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def told(text: str) -> str:
    """Return what a page tells of the condition that it shows."""
    return " ".join(
        re.sub(r"<[^>]+>", "", text.split('<p id="condition-')[1].split("</p>")[0]).split(">", 1)[1].split()
    )


def test_a_tab_for_each_condition_and_the_first_with_labels_is_open(as_olga: Client, auto: Condition, edits: Condition):
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)
    say(sheet_on(auto, "t1", "team.two"), 1, label=None, cannot="unclear")
    later = auto_condition(edits, "later")
    text, page = get(as_olga, "/campaigns/study/scores/")
    tabs = text.split('aria-label="Conditions">')[1].split("</nav>")[0]
    words = "Nuggets of Edits assigned by a model"
    assert re.findall(r'condition=(\d+)"( aria-current="true")? title="(.*?)">(.*?)</a>', tabs) == [
        (str(auto.pk), ' aria-current="true"', f"{words} (judge of Edits/Auto)", "<bdi>Edits/Auto</bdi>"),
        (str(later.pk), "", f"{words} (judge of later)", "<bdi>later</bdi>"),
    ]
    assert told(text).startswith(
        f"Edits/Auto · {words} (judge of Edits/Auto) · Nuggets: Edits · 2 topics, 3 runs, 5 answers · "
        "1 not submitted · 4 of 5 answers labelled · 1 label missing · 1 with “can"
    )
    assert board(page)[2][:2] == ["1", "team.one"]
    identity = "kind=assignment; nuggets=Edits; creation=imported"
    assert identity in text.split("<summary>Identity, for the record</summary>")[1].split("</details>")[0]
    assert text.count(identity) == 1
    assert "No labels yet" in get(as_olga, scores_of(later))[0]


def test_a_campaign_without_conditions_says_so(as_olga: Client, answered: Campaign):
    assert "No condition yet under which nuggets are assigned" in get(as_olga, "/campaigns/study/scores/")[0]


def test_a_score_table_with_its_condition_and_policy(as_olga: Client, auto: Condition):
    text, page = get(as_olga, scores_of(auto))
    table = board(page)
    assert table[0] == ["Edits/Auto, runs over all topics; Not submitted counts 0"]
    assert table[1] == ["#", "Run", "Team", "Task", "Vstrict", "V", "Wstrict", "W", "Astrict", "A", "L", "Topics"]
    assert table[2:] == [
        ["1", "team.one", "", "", "0.750", "0.875", "0.533", "0.717", "0.417", "0.625", "6.0", "2"],
        ["2", "team.two", "", "", "0.500", "0.500", "0.667", "0.667", "0.750", "0.750", "4.5", "2"],
        ["3", "team.empty", "", "", "0.000", "0.000", "0.000", "0.000", "0.000", "0.000", "0.0", "1"],
        ["", "minimum", "", "", "0.000", "0.000", "0.000", "0.000", "0.000", "0.000", "0.0", ""],
        ["", "median", "", "", "0.250", "0.375", "0.367", "0.467", "0.417", "0.500", "2.5", ""],
        ["", "maximum", "", "", "1.000", "1.000", "0.833", "0.917", "0.750", "0.875", "8.0", ""],
    ]
    assert "2 topics, 3 runs, 5 answers · 1 not submitted" in text
    assert "lack" not in text


def test_the_other_policy_is_said_and_kept_in_every_address(as_olga: Client, auto: Condition):
    _, page = get(as_olga, scores_of(auto, policy="answered"))
    table = board(page)
    assert table[0][0].endswith("; Not submitted does not count")
    assert [(row[4], row[-2]) for row in table[2:] if row[1] == "minimum"] == [("0.000", "1.5")]
    inner = [one for one in page.addresses if "/scores/" in one and one != "/campaigns/study/scores/"]
    inner.remove(f"/campaigns/study/scores/{auto.pk}/nuggets/")  # of judged answers alone
    assert inner
    assert all("policy=answered" in one for one in inner)
    assert all("policy=answered" in one for one in page.addresses if "sort=" in one)


def test_only_topics_in_common_count_and_the_pages_say_so(as_olga: Client, auto: Condition, answered: Campaign):
    words = "Only topics that all runs submitted count"
    text, page = get(as_olga, scores_of(auto, policy="common"))
    table = board(page)
    assert table[0] == [f"Edits/Auto, runs over all topics; {words}"]
    assert [(row[1], row[4], row[-1]) for row in table[2:6]] == [
        ("team.two", "1.000", "1"),
        ("team.one", "0.500", "1"),
        ("team.empty", "0.000", "1"),
        ("minimum", "0.000", ""),
    ]
    assert "2 topics, 3 runs, 5 answers · 1 not submitted" in text
    assert "<strong>1 of the 2 topics counts</strong>All runs submitted it." in text
    t2, one = answered.topics.get(qid="t2"), Run.objects.get(tag="team.one")
    text, page = get(as_olga, address("topic_scores", auto, t2.pk, query="?policy=common&sort=run"))
    assert f"all runs on this topic. {words}." in text
    assert [row[2:4] for row in page.tables[0][1:]] == [
        ["unanswered", "—"],
        ["complete", "—"],
        ["complete", "—"],
        *[["", "—"]] * 3,
    ]
    _, page = get(as_olga, address("run_scores", auto, one.pk, query="?policy=common"))
    assert [row[1:3] for row in page.tables[1][1:]] == [
        ["complete", "0.500"],
        ["complete", "—"],
        ["", "0.500"],
        ["", "—"],
    ]


def test_several_conditions_stand_on_one_page(as_olga: Client, auto: Condition, edits: Condition):
    other = label(auto_condition(edits, "other"), {"t1": {"team.one": "nnn"}})
    _, page = get(as_olga, scores_of(auto, other))
    assert [board(page, at)[0][0].split(",")[0] for at in (0, 1)] == ["Edits/Auto", "other"]
    assert [board(page, 1)[2][at] for at in (1, 4, -1)] == ["team.one", "0.000", "1"]


def test_bars_have_the_interval_of_the_mean_over_topics(as_olga: Client, auto: Condition):
    """With two topics a draw has the first twice, both, or the second twice: so the bounds are those of the topics."""
    text, _ = get(as_olga, scores_of(auto))
    words = re.findall(r'<svg class="fill" height="18" role="img" aria-label="(.*?)">', text)
    assert words == [
        "0.750, interval 0.500 to 1.000, standard error 0.250",
        "0.500, interval 0.000 to 1.000, standard error 0.500",
        "0.000, interval 0.000 to 0.000, standard error 0.000",
    ]
    assert re.findall(r'title="Standard error (.*?)">(.*?)<', text) == [
        ("0.250", "0.750"),
        ("0.500", "0.500"),
        ("0.000", "0.000"),
    ]
    bars = re.findall(
        r'<rect x="0.00%" y="4" width="(.*?)" height="10" rx="2" class="f-model"/><line x1="(.*?)" x2="(.*?)"', text
    )
    assert bars == [("75.00%", "50.00%", "100.00%"), ("50.00%", "0.00%", "100.00%"), ("0.00%", "0.00%", "0.00%")]
    assert "0 to 1, 95 % interval</th>" in text
    found, (cells, low, high, *_), _ = scores_with_intervals(auto, Policy.ANSWERED)
    expected = bootstrap_means(cells, seed=2026)
    assert np.array_equal(low, expected[0], equal_nan=True)
    assert np.array_equal(high, expected[1], equal_nan=True)
    empty = [run.tag for run in found.runs].index("team.empty")
    assert np.isnan(cells[empty, 1]).all()


def test_intervals_are_kept_until_a_label_changes(as_olga: Client, auto: Condition, monkeypatch):
    made = []
    monkeypatch.setattr(
        "assessor.scores.cache.bootstrap_means",
        lambda cells, seed: made.append(seed) or bootstrap_means(cells, seed=seed),
    )
    for _ in range(2):
        get(as_olga, scores_of(auto))
    assert made == [2026]
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)
    get(as_olga, scores_of(auto))
    assert len(made) == 2


def test_rows_are_kept_and_follow_every_label_and_what_is_asked(as_olga: Client, auto: Condition):
    asked = ("", "&measure=a", "&policy=answered", f"&run={Run.objects.get(tag='team.one').pk}")

    def shown() -> list[list[list[str]]]:
        return [board(get(as_olga, scores_of(auto) + query)[1]) for query in asked]

    def anew() -> list[list[list[str]]]:
        found = []
        for query in asked:
            cache.clear()
            found.append(board(get(as_olga, scores_of(auto) + query)[1]))
        return found

    before = anew()
    assert [shown(), shown()] == [before, before]
    say(sheet_on(auto, "t1", "team.one"), 0, label="not_support")
    after = shown()
    assert after == anew()
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_runs_that_are_not_told_apart_share_a_letter(as_olga: Client, auto: Condition):
    for measure in ("vstrict", "astrict"):
        text, page = get(as_olga, scores_of(auto, measure=measure))
        found = condition_scores(auto)
        cells = found.scores[..., found.measures.keys.index(measure)]
        expected = tukey_groups(cells)
        assert letters(page) == {
            run.tag: in_short(groups) for run, groups in zip(found.runs, expected.groups, strict=True)
        }
        assert f"HSD of {expected.least:.3f}, which corrects for all pairs of 3 runs" in text


def test_letters_need_a_score_of_every_run_on_every_topic(as_olga: Client, auto: Condition):
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)  # which is no reason to count 0
    for policy in ("zero", "answered"):
        text, page = get(as_olga, scores_of(auto, policy=policy))
        assert letters(page) == {}
        assert "Letters need a score of every run on every topic" in text


def test_another_measure_has_the_bars_and_the_order(as_olga: Client, auto: Condition):
    text, page = get(as_olga, scores_of(auto, measure="astrict"))
    assert board(page)[1][4:6] == ["Astrict", "Vstrict"]
    assert [row[:2] + row[4:6] for row in board(page)[2:4]] == [
        ["1", "team.two", "0.750", "0.500"],
        ["2", "team.one", "0.417", "0.750"],
    ]
    assert '<a href="?condition=' in text
    assert 'aria-current="true">All, strict</a>' in text


def test_runs_of_one_task_alone_keep_their_scores_and_the_rest_counts_among_them(as_olga: Client, auto: Condition):
    Run.objects.filter(tag="team.two").update(task="AG")
    cache.clear()
    text, page = get(as_olga, scores_of(auto))
    assert re.findall(r">(All runs|AG 1)</a>", text) == ["All runs", "AG 1"]
    _, page = get(as_olga, scores_of(auto, task="AG"))
    assert [(row[0], row[1], row[4]) for row in board(page)[2:]] == [
        ("1", "team.two", "0.500"),
        *(("", name, "0.500") for name in OVER),
    ]


def test_a_run_opens_in_its_place_topic_by_topic_beside_the_median(as_olga: Client, auto: Condition):
    run = Run.objects.get(tag="team.one")
    text, page = get(as_olga, scores_of(auto, run=str(run.pk)))
    [strip] = [table for table in page.tables if table[0][0] == "Run"]
    assert strip[:3] == [["Run", "t1", "t2"], ["team.one", ".50", "1.0"], ["Median of 3", ".50", ".00"]]
    assert text.index('aria-expanded="true">team.one') < text.index("team.one, topic by topic") < text.index("team.two")
    assert address("run_scores", auto, run.pk, query="?policy=zero") in page.addresses
    assert 'aria-label="t1: 0.500, median 0.500"' in text


@pytest.mark.parametrize("query", ["measure=length", "sort=length", "sort=-length"])
def test_the_length_of_answers_is_shown_topic_by_topic_too(as_olga: Client, auto: Condition, query: str):
    Answer.objects.filter(run__tag="team.one").update(words=12)
    cache.clear()
    name, _, value = query.partition("=")
    run = Run.objects.get(tag="team.one")
    _, page = get(as_olga, scores_of(auto, run=str(run.pk), **{name: value}))
    [strip] = [table for table in page.tables if table[0][0] == "Run"]
    assert strip[1][0] == "team.one"
    assert "12" in strip[1] or query != "measure=length"


def test_chosen_runs_are_compared_with_the_best_of_them(as_olga: Client, auto: Condition):
    """By V strict team.one has 0.5 and 1 on the two topics, team.two 1 and 0: +0.5 and -1."""
    keys = {run.tag: run.pk for run in Run.objects.all()}
    chosen = f"&run={keys['team.two']}&run={keys['team.one']}"
    text, page = get(as_olga, scores_of(auto) + chosen)
    assert "2 runs compared" in text
    [table] = [table for table in page.tables if table[0][1:2] == ["Mean"]]
    assert table[0][1:4] == ["Mean", "Standard error", "95 % interval"]
    assert table[1][:4] == ["team.one", "0.750", "0.250", "0.500 to 1.000"]
    assert table[2] == [
        *("team.two", "0.500", "0.500", "0.000 to 1.000", "-0.250", "-1.000 to 0.500", "1, 0, 1", "no, may be chance"),
    ]
    strip = next(table for table in page.tables if table[0][0] == "Run" and "t1" in table[0])
    assert strip[1:3] == [["team.one", ".50", "1.0"], ["team.two", "1.0", ".00"]]
    assert len(re.findall(r'aria-label="Compare team\.\w+" checked', text)) == 2


def test_runs_are_filtered_by_name_or_team(as_olga: Client, auto: Condition):
    _, page = get(as_olga, scores_of(auto, tag="TWO"))
    assert [row[1] for row in board(page)[2:3]] == ["team.two"]
    assert board(page)[2][0] == "2"  # its place among all
    assert "No run has “nobody” in its name or team." in get(as_olga, scores_of(auto, tag="nobody"))[0]


def names(page: Page) -> list[str]:
    return [row[1] for row in board(page)[2:5]]


def test_every_column_sorts_both_ways(as_olga: Client, auto: Condition):
    _, page = get(as_olga, scores_of(auto))
    assert page.orders == {"Vstrict": "descending"}  # as in papers, where nothing else is asked for
    for sort, first, order in [
        ("run", ["team.empty", "team.one", "team.two"], {"Run": "ascending"}),
        ("-run", ["team.two", "team.one", "team.empty"], {"Run": "descending"}),
        ("vstrict", ["team.empty", "team.two", "team.one"], {"Vstrict": "ascending"}),
        ("-wstrict", ["team.two", "team.one", "team.empty"], {"Wstrict": "descending"}),
        ("-length", ["team.one", "team.two", "team.empty"], {"L": "descending"}),
        ("complete", ["team.empty", "team.one", "team.two"], {"Topics": "ascending"}),
        ("-complete", ["team.one", "team.two", "team.empty"], {"Topics": "descending"}),
        ("incomplete", ["team.one", "team.two", "team.empty"], {"Vstrict": "descending"}),  # nothing lacks labels
        ("task", ["team.empty", "team.one", "team.two"], {"Task": "ascending"}),
    ]:
        text, page = get(as_olga, scores_of(auto, sort=sort))
        assert (names(page), page.orders) == (first, order), sort
        assert [row[1] for row in board(page)[5:]] == ["minimum", "median", "maximum"]
    links = re.findall(r'<a id="sort-[^"]*" href="([^"]*)"', text.replace("&amp;", "&"))
    assert len(links) == 11
    for link in links:
        get(as_olga, "/campaigns/study/scores/" + link)
    # Of the column by which it is sorted the order is turned round; others begin with the best, or with A.
    [run, _, task, *_, length, _] = links
    assert (run[-4:], task[-6:], length[-8:]) == ("=run", "=-task", "=-length")


def test_undefined_scores_come_last_and_are_no_number(as_olga: Client, edits: Condition):
    auto = label(auto_condition(edits), {"t1": {"team.one": "nnn", "team.two": "ss?", "team.empty": "nnn"}})
    for sort in ("vstrict", "-vstrict"):
        _, page = get(as_olga, scores_of(auto, sort=sort))
        assert names(page)[-1] == "team.two"
        assert board(page)[4] == ["—", "team.two", "", "", *["—"] * 7, "0", "1"]


def test_what_is_incomplete_or_unusual_is_said(
    as_olga: Client, answered: Campaign, import_file, olga: Person, auto: Condition
):
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)
    text, page = get(as_olga, scores_of(auto))
    assert "<strong>1 answer of 1 run lacks labels</strong>Its mean is over complete answers only" in text
    row = next(row for row in board(page)[2:] if row[1] == "team.one")
    assert row[4:6] + row[-2:] == ["1.000", "1.000", "1", "1"]  # of t2 alone
    # The bar of such a mean is dashed, and a link leads to the answer.
    assert re.findall(r'rx="2" class="([\w-]+)"', text) == ["f-part", "f-model", "f-model"]
    assert f'href="#missing-{auto.pk}"' in text
    listed = text.split(f'id="missing-{auto.pk}"')[1].split("</details>")[0]
    run, t1 = Run.objects.get(tag="team.one"), answered.topics.get(qid="t1")
    assert re.findall(r'href="(.*?)\?', listed) == [
        address("run_scores", auto, run.pk),
        address("topic_scores", auto, t1.pk),
    ]
    for nugget in Nugget.objects.filter(bank__topic__qid="t2", importance="vital"):
        leave_out(condition=auto, nugget=nugget, is_out=True, reason="<b>vague</b>", acting_user=olga)
    text, _ = get(as_olga, scores_of(auto))
    assert "On 1 of the topics no nugget is vital: there V and V strict are 0." in text
    assert "1 nugget is left out for all runs." in text
    t2 = answered.topics.get(qid="t2")
    text, _ = get(as_olga, address("topic_scores", auto, t2.pk))
    assert "1 nugget counts." in text
    assert "Left out for all runs: <bdi>glass is melted</bdi>" in text
    assert "&lt;b&gt;vague&lt;/b&gt;" in text
    assert "no vital nugget" in text
    plain = import_banks(answered, import_file, {"t1": BANKS["t1"], "t2": [("a", ""), ("b", "okay")]}, "draft")
    text, _ = get(as_olga, scores_of(label(auto_condition(plain, "of drafts"))))
    assert "On 1 of the topics some nugget has no importance: V and W leave these topics out." in text
    assert "importance is missing" in text


def test_a_topic_without_a_nugget_that_counts_is_named(as_olga: Client, auto: Condition, olga: Person):
    for nugget in Nugget.objects.filter(bank__topic__qid="t2"):
        leave_out(condition=auto, nugget=nugget, is_out=True, reason="x", acting_user=olga)
    text, _ = get(as_olga, scores_of(auto))
    assert "No nugget counts on <bdi>t2</bdi>: there can be no score there, and no mean is over it." in text
    assert "1 topic, 3 runs, 3 answers · 0 not submitted" in text


def test_runs_that_answered_and_are_not_in_it_are_named(as_olga: Client, edits: Condition):
    auto = label(auto_condition(edits), {"t2": {"team.one": "sp"}})
    text, _ = get(as_olga, scores_of(auto))
    assert "1 run answered this topic and is not in this condition: <bdi>team.two</bdi></p>" in text
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    assert "not in this condition" not in get(as_olga, scores_of(auto))[0]


def test_control_runs_stand_apart_below(as_olga: Client, auto: Condition):
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    _, page = get(as_olga, scores_of(auto))
    assert [row[:2] for row in page.tables[0][-2:]] == [
        ["Control runs, which are in none of the rows above"],
        ["", ""],
    ]
    listed = [(row[0], row[1]) for row in board(page)[2:] if len(row) > 1]
    assert listed == [("1", "team.one"), ("2", "team.empty"), *(("", name) for name in OVER), ("", "team.two")]


def test_a_rehearsal_is_marked_wherever_its_scores_are(as_olga: Client, auto: Condition, answered: Campaign):
    Judge.objects.filter(pk=auto.judge_id).update(is_rehearsal=True)
    run, topic = Run.objects.get(tag="team.one"), answered.topics.get(qid="t1")
    for shown, times in [
        ("/campaigns/study/scores/", 1),
        (scores_of(auto), 1),
        (address("topic_scores", auto, topic.pk), 1),
        (address("run_scores", auto, run.pk), 1),
    ]:
        assert get(as_olga, shown)[0].count("with no model behind it") == times, shown


def test_all_runs_on_a_topic(as_olga: Client, auto: Condition, answered: Campaign):
    say(sheet_on(auto, "t2", "team.one"), 0, label=None)
    topic = answered.topics.get(qid="t2")
    _, page = get(as_olga, address("topic_scores", auto, topic.pk))
    [table] = page.tables
    assert table[1:] == [
        ["team.empty", "", "unanswered", *["0.000"] * 6, "0.0"],
        ["team.two", "", "complete", "0.000", "0.000", "0.333", "0.333", "0.500", "0.500", "7.0"],
        ["team.one", "", "incomplete", *["—"] * 7],
        ["minimum", "", "", *["0.000"] * 6, "0.0"],
        ["median", "", "", "0.000", "0.000", "0.167", "0.167", "0.250", "0.250", "3.5"],
        ["maximum", "", "", "0.000", "0.000", "0.333", "0.333", "0.500", "0.500", "7.0"],
    ]
    _, page = get(as_olga, address("topic_scores", auto, topic.pk, query="?policy=answered&sort=-run"))
    assert [row[:4] for row in page.tables[0][1:5]] == [
        ["team.two", "", "complete", "0.000"],
        ["team.one", "", "incomplete", "—"],
        ["team.empty", "", "unanswered", "—"],
        ["minimum", "", "", "0.000"],
    ]
    assert address("run_scores", auto, Run.objects.get(tag="team.two").pk, query="?policy=answered") in page.addresses


def test_a_run_on_all_topics(as_olga: Client, auto: Condition, answered: Campaign):
    run = Run.objects.get(tag="team.empty")
    _, page = get(as_olga, address("run_scores", auto, run.pk))
    [strip, table] = page.tables
    assert strip == [
        ["Run", "t1", "t2"],
        ["team.empty", ".00", ".00"],
        ["Median of 3", ".50", ".00"],
    ]
    assert [row[:3] for row in table[1:]] == [
        ["t1 why do cats purr", "complete", "0.000"],
        ["t2 how is glass recycled", "unanswered", "0.000"],
        ["mean", "", "0.000"],
        ["standard error", "", "0.000"],
    ]
    assert page.orders == {"Topic": "ascending"}
    _, page = get(as_olga, address("run_scores", auto, run.pk, query="?policy=answered&sort=-topic"))
    assert [row[:3] for row in page.tables[1][1:3]] == [
        ["t2 how is glass recycled", "unanswered", "—"],
        ["t1 why do cats purr", "complete", "0.000"],
    ]
    t1 = answered.topics.get(qid="t1")
    assert address("topic_scores", auto, t1.pk, query="?policy=answered") in page.addresses


def test_every_address_on_the_pages_leads_somewhere(as_olga: Client, auto: Condition, answered: Campaign):
    run, topic = Run.objects.get(tag="team.one"), answered.topics.get(qid="t1")
    opened = set()
    for base, query in [
        ("/campaigns/study/scores/", scores_of(auto).partition("?")[2]),
        (address("topic_scores", auto, topic.pk), ""),
        (address("run_scores", auto, run.pk), ""),
    ]:
        _, page = get(as_olga, f"{base}?{query}")
        found = {base + one if one.startswith("?") else one for one in page.addresses if not one.startswith("#")}
        assert len(found) > 10
        for one in found - opened:
            assert as_olga.get(one, follow=True).status_code == 200, one
        opened |= found


@pytest.mark.parametrize("form", FORMS)
def test_downloads_are_what_the_command_writes_and_are_recorded(as_olga: Client, auto: Condition, form: str):
    response = as_olga.get(address("export_scores", auto, form, query="?policy=answered"))
    assert b"".join(response.streaming_content).decode() == "".join(score_lines(auto, form, Policy.ANSWERED))
    name = f"study.scores.Edits_Auto.answered.{FORMS[form].ending}"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert Event.objects.get(verb="exported").subject == f"scores.Edits/Auto.answered.{FORMS[form].ending}"


def test_a_download_of_incomplete_scores_is_409_unless_allowed(as_olga: Client, auto: Condition):
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)
    text, page = get(as_olga, address("export_scores", auto, "csv", query="?policy=answered"), status=409)
    assert "1 of 5 answers under Edits/Auto are incomplete" in text
    assert not Event.objects.filter(verb="exported").exists()
    [allowed] = [one for one in page.addresses if "allow_incomplete=on" in one]
    response = as_olga.get(address("export_scores", auto, "csv") + allowed)
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert lines[2].startswith("team.one,,,Edits/Auto,answered,2,1,1,0,0,0,1.0,1.0,")
    assert Event.objects.get(verb="exported").details == {"policy": "answered", "allow_incomplete": "on"}


@pytest.mark.parametrize(
    "query",
    [
        *("condition=x", "condition=999999", "policy=none", "sort=nothing", "sort=--v", "sort="),
        *("measure=nothing", "measure=", "task=none"),
    ],
)
def test_what_is_not_there_is_404(as_olga: Client, auto: Condition, query: str):
    get(as_olga, f"{scores_of(auto)}&{query}", status=404)


def test_topics_runs_and_conditions_out_of_scope_are_404(as_olga: Client, auto: Condition, answered: Campaign, edits):
    t2, one = answered.topics.get(qid="t2"), Run.objects.get(tag="team.one")
    part = label(auto_condition(edits, "part"), {"t1": {"team.two": "nnn"}})
    for wrong in [
        address("topic_scores", part, t2.pk),
        address("run_scores", part, one.pk),
        address("topic_scores", edits, t2.pk),
        address("export_scores", edits, "csv"),
        address("export_scores", auto, "xls"),
    ]:
        get(as_olga, wrong, status=404)


def test_names_are_text_and_nothing_else(as_olga: Client, answered: Campaign, import_file, auto: Condition):
    evil = "<script>alert(1)</script>"
    assert import_file(answered, "runs", run_file(evil, {"t1": ["x"]}), name="evil").state == "done"
    Condition.objects.filter(pk=auto.pk).update(name=evil)
    auto.refresh_from_db()
    label(auto, {"t1": {evil: "sss"}})
    run, topic = Run.objects.get(tag=evil), answered.topics.get(qid="t1")
    for shown in [
        scores_of(auto),
        scores_of(auto, sort='"><script>').replace("sort", "other"),
        address("topic_scores", auto, topic.pk),
        address("run_scores", auto, run.pk),
    ]:
        text, _ = get(as_olga, shown)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "<script>alert" not in text
        assert '"><script>' not in text


def test_a_larger_condition_takes_no_more_queries(as_olga: Client, auto: Condition, answered: Campaign, import_file):
    run, topic = Run.objects.get(tag="team.one"), answered.topics.get(qid="t1")
    pages = [scores_of(auto), address("topic_scores", auto, topic.pk), address("run_scores", auto, run.pk)]

    def counts() -> list[int]:
        found = []
        for shown in pages:
            get(as_olga, shown)
            cache.clear()
            with CaptureQueriesContext(connection) as queries:
                get(as_olga, shown)
            found.append(len(queries))
        return found

    small = counts()
    for number in range(4):
        tag = f"more.{number}"
        assert import_file(answered, "runs", run_file(tag, {"t1": ["x"]}), name=tag).state == "done"
        label(auto, {"t1": {tag: "sss"}})
    assert counts() == small


def test_the_pages_use_no_style_or_script_of_their_own(as_olga: Client, auto: Condition):
    text, _ = get(as_olga, scores_of(auto))
    assert not re.search(r"<style|style=|<script(?! src)|\son\w+=", text)
