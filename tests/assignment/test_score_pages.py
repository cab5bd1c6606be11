"""Score tables as an organizer sees and downloads them."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import CONTROL, Campaign, Condition, Event, Judge, Run
from assessor.runtime.process_cache import cache
from assessor.scores.leaderboards import FORMS, score_lines
from assignment.actions import leave_out
from metaeval.stats.means import Policy
from nuggets.models import Nugget
from tests.assignment.conftest import run_file
from tests.assignment.scored import BANKS, auto_condition, import_banks, label, say, sheet_on
from tests.conftest import client_of
from tests.scores.pages import Page, address, get, scores_of


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


def test_the_list_says_of_each_condition_what_it_is_and_how_far(as_olga: Client, auto: Condition, edits: Condition):
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)
    say(sheet_on(auto, "t1", "team.two"), 1, label=None, cannot="unclear")
    auto_condition(edits, "later")
    text, page = get(as_olga, "/campaigns/study/scores/")
    [table] = page.tables
    assert table[1][:8] == ["Edits/Auto", "Edits", "judge of Edits/Auto", "2", "3", "4/5", "1", "1"]
    assert table[2][:4] == ["later", "Edits", "judge of later", "no answers yet"]
    assert "kind=assignment; nuggets=Edits; creation=imported" in table[1][8]
    assert 'class="scores"' not in text


def test_a_campaign_without_conditions_says_so(as_olga: Client, answered: Campaign):
    assert "No condition yet under which nuggets are assigned" in get(as_olga, "/campaigns/study/scores/")[0]


def test_a_score_table_with_its_condition_and_policy(as_olga: Client, auto: Condition):
    text, page = get(as_olga, scores_of(auto))
    [_, table] = page.tables
    assert table[0] == ["Edits/Auto, runs over all topics; a topic that a run did not answer counts 0"]
    assert table[1] == [*("Run", "Task", "Complete", "Incomplete", "Vstrict", "V", "Wstrict", "W", "Astrict", "A", "L")]
    assert table[2:] == [
        ["team.one", "", "2", "0", "0.7500", "0.8750", "0.5333", "0.7167", "0.4167", "0.6250", "6.00"],
        ["team.two", "", "2", "0", "0.5000", "0.5000", "0.6667", "0.6667", "0.7500", "0.7500", "4.50"],
        ["team.empty", "", "1", "0", "0.0000", "0.0000", "0.0000", "0.0000", "0.0000", "0.0000", "0.00"],
        ["minimum", "", "5", "0", "0.0000", "0.0000", "0.0000", "0.0000", "0.0000", "0.0000", "0.00"],
        ["median", "", "5", "0", "0.2500", "0.3750", "0.3667", "0.4667", "0.4167", "0.5000", "2.50"],
        ["maximum", "", "5", "0", "1.0000", "1.0000", "0.8333", "0.9167", "0.7500", "0.8750", "8.00"],
    ]
    assert "2 topics, 3 runs, 5 answers; not answered: 1." in text
    assert "lack" not in text


def test_the_other_policy_is_said_and_kept_in_every_address(as_olga: Client, auto: Condition):
    _, page = get(as_olga, scores_of(auto, policy="answered"))
    table = page.tables[1]
    assert table[0][0].endswith("; a topic that a run did not answer does not count")
    assert [row[4] for row in table if row[0] == "minimum"] == ["0.0000"]
    assert [row[-1] for row in table if row[0] == "minimum"] == ["1.50"]
    inner = [one for one in page.addresses if "/scores/" in one and one != "/campaigns/study/scores/"]
    assert inner
    assert all("policy=answered" in one for one in inner)
    assert all("policy=answered" in one for one in page.addresses if "sort=" in one)


def test_only_topics_in_common_count_and_the_pages_say_so(as_olga: Client, auto: Condition, answered: Campaign):
    words = "a topic that not all runs answered does not count, for any run"
    text, page = get(as_olga, scores_of(auto, policy="common"))
    table = page.tables[1]
    assert table[0] == [f"Edits/Auto, runs over all topics; {words}"]
    assert [row[:5] for row in table[2:6]] == [
        ["team.two", "", "1", "0", "1.0000"],
        ["team.one", "", "1", "0", "0.5000"],
        ["team.empty", "", "1", "0", "0.0000"],
        ["minimum", "", "3", "0", "0.0000"],
    ]
    assert "2 topics, 3 runs, 5 answers; not answered: 1. 1 of the 2 topics counts: all runs answered it." in text
    t2, one = answered.topics.get(qid="t2"), Run.objects.get(tag="team.one")
    _, page = get(as_olga, address("topic_scores", auto, t2.pk, query="?policy=common&sort=run"))
    assert page.tables[0][0][0].endswith(words)
    assert [row[2:4] for row in page.tables[0][2:]] == [
        ["unanswered", "—"],
        ["complete", "—"],
        ["complete", "—"],
        *[["", "—"]] * 3,
    ]
    _, page = get(as_olga, address("run_scores", auto, one.pk, query="?policy=common"))
    assert [row[1:3] for row in page.tables[0][2:]] == [["complete", "0.5000"], ["complete", "—"], ["", "0.5000"]]


def test_several_conditions_stand_on_one_page(as_olga: Client, auto: Condition, edits: Condition):
    other = label(auto_condition(edits, "other"), {"t1": {"team.one": "nnn"}})
    _, page = get(as_olga, scores_of(auto, other))
    assert [table[0][0].split(",")[0] for table in page.tables[1:]] == ["Edits/Auto", "other"]
    assert page.tables[2][2][:5] == ["team.one", "", "1", "0", "0.0000"]


def names(page: Page) -> list[str]:
    return [row[0] for row in page.tables[-1][2:5]]


def test_every_column_sorts_both_ways(as_olga: Client, auto: Condition):
    _, page = get(as_olga, scores_of(auto))
    assert page.orders == {"Vstrict": "descending"}  # as in papers, where nothing else is asked for
    for sort, first, order in [
        ("run", ["team.empty", "team.one", "team.two"], {"Run": "ascending"}),
        ("-run", ["team.two", "team.one", "team.empty"], {"Run": "descending"}),
        ("vstrict", ["team.empty", "team.two", "team.one"], {"Vstrict": "ascending"}),
        ("-wstrict", ["team.two", "team.one", "team.empty"], {"Wstrict": "descending"}),
        ("-length", ["team.one", "team.two", "team.empty"], {"L": "descending"}),
        ("complete", ["team.empty", "team.one", "team.two"], {"Complete": "ascending"}),
        ("-complete", ["team.one", "team.two", "team.empty"], {"Complete": "descending"}),
        ("task", ["team.empty", "team.one", "team.two"], {"Task": "ascending"}),
    ]:
        _, page = get(as_olga, scores_of(auto, sort=sort))
        assert (names(page), page.orders) == (first, order), sort
        assert [row[0] for row in page.tables[-1][5:]] == ["minimum", "median", "maximum"]
    links = [one for one in page.addresses if "sort=" in one]
    assert len(links) == 11
    for link in links:
        get(as_olga, "/campaigns/study/scores/" + link)
    # Of the column by which it is sorted the order is turned round; others begin with the best, or with A.
    [run, task, *_, length] = links
    assert (run[-4:], task[-6:], length[-8:]) == ("=run", "=-task", "=-length")


def test_undefined_scores_come_last_and_are_no_number(as_olga: Client, edits: Condition):
    auto = label(auto_condition(edits), {"t1": {"team.one": "nnn", "team.two": "ss?", "team.empty": "nnn"}})
    for sort in ("vstrict", "-vstrict"):
        _, page = get(as_olga, scores_of(auto, sort=sort))
        assert names(page)[-1] == "team.two"
        assert page.tables[-1][4] == ["team.two", "", "0", "1", *["—"] * 7]


def test_what_is_incomplete_or_unusual_is_said(
    as_olga: Client, answered: Campaign, import_file, olga: Person, auto: Condition
):
    say(sheet_on(auto, "t1", "team.one"), 0, label=None)
    text, page = get(as_olga, scores_of(auto))
    assert "1 answer lacks labels. They count in no mean" in text
    row = next(row for row in page.tables[1] if row[0] == "team.one")
    assert row[2:6] == ["1", "1", "1.0000", "1.0000"]  # of t2 alone
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
    assert "1 topic, 3 runs, 3 answers; not answered: 0." in text


def test_runs_that_answered_and_are_not_in_it_are_named(as_olga: Client, edits: Condition):
    auto = label(auto_condition(edits), {"t2": {"team.one": "sp"}})
    text, _ = get(as_olga, scores_of(auto))
    assert "1 run answered this topic and is not in this condition: <bdi>team.two</bdi></p>" in text
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    assert "not in this condition" not in get(as_olga, scores_of(auto))[0]


def test_control_runs_stand_apart_below(as_olga: Client, auto: Condition):
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    _, page = get(as_olga, scores_of(auto))
    assert [row[0] for row in page.tables[1][2:]] == [
        *("team.one", "team.empty", "minimum", "median", "maximum"),
        "Control runs, which are in none of the rows above",
        "team.two",
    ]


def test_a_rehearsal_is_marked_wherever_its_scores_are(as_olga: Client, auto: Condition, answered: Campaign):
    Judge.objects.filter(pk=auto.judge_id).update(is_rehearsal=True)
    run, topic = Run.objects.get(tag="team.one"), answered.topics.get(qid="t1")
    for shown, times in [
        ("/campaigns/study/scores/", 1),
        (scores_of(auto), 3),
        (address("topic_scores", auto, topic.pk), 1),
        (address("run_scores", auto, run.pk), 1),
    ]:
        assert get(as_olga, shown)[0].count("with no model behind it") == times, shown


def test_all_runs_on_a_topic(as_olga: Client, auto: Condition, answered: Campaign):
    say(sheet_on(auto, "t2", "team.one"), 0, label=None)
    topic = answered.topics.get(qid="t2")
    _, page = get(as_olga, address("topic_scores", auto, topic.pk))
    [table] = page.tables
    assert table[0] == ["Edits/Auto, all runs on this topic; a topic that a run did not answer counts 0"]
    assert table[2:] == [
        ["team.empty", "", "unanswered", *["0.0000"] * 6, "0.00"],
        ["team.two", "", "complete", "0.0000", "0.0000", "0.3333", "0.3333", "0.5000", "0.5000", "7.00"],
        ["team.one", "", "incomplete", *["—"] * 7],
        ["minimum", "", "", *["0.0000"] * 6, "0.00"],
        ["median", "", "", "0.0000", "0.0000", "0.1667", "0.1667", "0.2500", "0.2500", "3.50"],
        ["maximum", "", "", "0.0000", "0.0000", "0.3333", "0.3333", "0.5000", "0.5000", "7.00"],
    ]
    _, page = get(as_olga, address("topic_scores", auto, topic.pk, query="?policy=answered&sort=-run"))
    assert [row[:4] for row in page.tables[0][2:6]] == [
        ["team.two", "", "complete", "0.0000"],
        ["team.one", "", "incomplete", "—"],
        ["team.empty", "", "unanswered", "—"],
        ["minimum", "", "", "0.0000"],
    ]
    assert address("run_scores", auto, Run.objects.get(tag="team.two").pk, query="?policy=answered") in page.addresses


def test_a_run_on_all_topics(as_olga: Client, auto: Condition, answered: Campaign):
    run = Run.objects.get(tag="team.empty")
    _, page = get(as_olga, address("run_scores", auto, run.pk))
    [table] = page.tables
    assert [row[:3] for row in table[2:]] == [
        ["t1 why do cats purr", "complete", "0.0000"],
        ["t2 how is glass recycled", "unanswered", "0.0000"],
        ["mean", "", "0.0000"],
    ]
    assert page.orders == {"Topic": "ascending"}
    _, page = get(as_olga, address("run_scores", auto, run.pk, query="?policy=answered&sort=-topic"))
    assert [row[:3] for row in page.tables[0][2:4]] == [
        ["t2 how is glass recycled", "unanswered", "—"],
        ["t1 why do cats purr", "complete", "0.0000"],
    ]
    t1 = answered.topics.get(qid="t1")
    assert address("topic_scores", auto, t1.pk, query="?policy=answered") in page.addresses


def test_every_address_on_the_pages_leads_somewhere(as_olga: Client, auto: Condition, answered: Campaign):
    run, topic = Run.objects.get(tag="team.one"), answered.topics.get(qid="t1")
    for base, query in [
        ("/campaigns/study/scores/", scores_of(auto).partition("?")[2]),
        (address("topic_scores", auto, topic.pk), ""),
        (address("run_scores", auto, run.pk), ""),
    ]:
        _, page = get(as_olga, f"{base}?{query}")
        found = [one for one in page.addresses if not one.startswith("#")]
        assert len(found) > 10
        for one in found:
            response = as_olga.get(base + one if one.startswith("?") else one)
            assert response.status_code == 200, one


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
    ["condition=x", "condition=999999", "policy=none", "sort=nothing", "sort=--v", "sort="],
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
