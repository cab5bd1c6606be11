"""Support scores as an organizer sees and downloads them, beside those of nuggets."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import CONTROL, Campaign, Condition, Event, Judge, Run
from assessor.runtime.process_cache import cache
from assessor.scores.leaderboards import FORMS, score_lines
from metaeval.stats.means import Policy
from tests.assignment.scored import auto_condition, import_banks, label
from tests.conftest import client_of
from tests.scores.pages import address, board, get, scores_of
from tests.support.scores_helpers import ANSWERS, import_answers, judge, say, sheet_on, support_condition

MEASURES = [*("WP", "WR", "HP", "HR"), *("WPall", "WRall", "HPall", "HRall")]
HEADS = ["#", "Run", "Team", "Task", *MEASURES, "Topics"]


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def cited(campaign: Campaign, import_file) -> Campaign:
    import_answers(campaign, import_file, ANSWERS)
    return campaign


@pytest.fixture
def auto(cited: Campaign) -> Condition:
    return judge(support_condition(cited))


@pytest.fixture
def nuggets(auto: Condition, import_file) -> Condition:
    """Labels of nuggets in the same answers."""
    labels = {"t1": {"team.one": "spn", "team.two": "sss"}}
    return label(auto_condition(import_banks(auto.campaign, import_file)), labels)


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def test_the_page_says_of_a_condition_what_it_is_and_how_far(as_olga: Client, auto: Condition, cited: Campaign):
    say(sheet_on(auto, "t1", "team.one"), "0.0", label=None)
    say(sheet_on(auto, "t1", "team.two"), "0.0", label=None, cannot="unclear")
    support_condition(cited, "later")
    text, _ = get(as_olga, "/campaigns/study/scores/")
    assert "<bdi>later</bdi>" in text
    for told in ("Citations judged: the first ·", "4 of 5 answers labelled · 1 label missing · 1 with “can"):
        assert told in text
    assert "Without a cited text" not in text


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("support automatic", ["Citations judged: the first 3", "by a model (judge of Auto)"]),
        ("support post-edited", ["Citations judged: the first 3", "with the labels of Auto shown"]),
        ("imported", ["Citations judged: as in the file", "by a model (judge of Auto)"]),
    ],
)
def test_the_page_says_which_citations_and_whose_labels(as_olga: Client, auto: Condition, method: str, told: list[str]):
    type(auto.protocol).objects.filter(pk=auto.protocol_id).update(citations_per_sentence=3)
    shown = auto.pk if method == "support post-edited" else None
    Condition.objects.filter(pk=auto.pk).update(method=method, shown=shown)
    text, _ = get(as_olga, "/campaigns/study/scores/")
    assert [one in text for one in told] == [True, True]


def test_a_campaign_without_conditions_says_so(as_olga: Client, cited: Campaign):
    assert "No condition yet under which support is judged." in get(as_olga, "/campaigns/study/scores/")[0]


def test_a_score_table_with_its_condition_and_policy(as_olga: Client, auto: Condition):
    text, page = get(as_olga, scores_of(auto))
    table = board(page)
    assert table[0] == ["Auto, runs over all topics; Not submitted counts 0"]
    assert table[1] == HEADS
    assert page.orders == {"WP": "descending"}
    assert table[2:] == [
        ["1", "team.two", "", "", "0.750", "0.688", "0.667", "0.625", "0.833", "0.750", "0.750", "0.688", "2"],
        ["2", "team.one", "", "", "0.375", "0.250", "0.250", "0.167", "0.375", "0.250", "0.250", "0.167", "2"],
        ["3", "team.empty", "", "", *["0.000"] * 8, "1"],
        ["", "minimum", "", "", *["0.000"] * 8, ""],
        ["", "median", "", "", "0.250", "0.188", "0.167", "0.125", "0.333", "0.250", "0.250", "0.167", ""],
        ["", "maximum", "", "", "0.875", "0.750", "0.750", "0.667", "0.875", "0.750", "0.750", "0.688", ""],
    ]
    assert "2 topics, 3 runs, 5 answers · 1 not submitted" in text
    assert "2 answers cite nothing: all scores are 0 there." in text
    assert "1 citation is marked as not to be judged" in text
    assert "P, precision, is over the sentences with a judged citation" in text
    assert "lack" not in text


def test_both_kinds_stand_on_one_page_and_each_is_sorted_by_its_own_columns(
    as_olga: Client, auto: Condition, nuggets: Condition
):
    _, page = get(as_olga, scores_of(auto, nuggets))
    assert [board(page, at)[0][0].split(",")[0] for at in (0, 1)] == ["Edits/Auto", "Auto"]
    for sort, of_nuggets, of_support in [
        ("weighted_precision", "team.two", "team.empty"),
        ("-weighted_precision", "team.two", "team.two"),
        ("vstrict", "team.one", "team.two"),
        ("run", "team.one", "team.empty"),
    ]:
        _, page = get(as_olga, scores_of(auto, nuggets, sort=sort))
        assert [board(page, at)[2][1] for at in (0, 1)] == [of_nuggets, of_support], sort
    get(as_olga, scores_of(auto, sort="vstrict"), status=404)
    get(as_olga, scores_of(auto, nuggets, sort="nothing"), status=404)


def test_every_column_sorts_both_ways(as_olga: Client, auto: Condition):
    _, page = get(as_olga, scores_of(auto))
    links = [one for one in page.addresses if "sort=" in one]
    assert len(links) == len(HEADS) - 1
    for link in links:
        get(as_olga, "/campaigns/study/scores/" + link)


def test_what_is_incomplete_is_said_and_no_0(as_olga: Client, cited: Campaign):
    lacking = {"team.one": {"t1": ["!", "f", ""]}, "team.two": {"t1": ["?", "p", "nf", "-", ""]}}
    auto = judge(support_condition(cited), lacking)
    text, page = get(as_olga, scores_of(auto))
    assert "<strong>2 answers of 2 runs lack labels</strong>Their means are over complete answers only" in text
    assert "1 citation can't be judged: the cited text is not loaded." in text
    assert board(page)[2:4] == [
        ["—", "team.one", "", "", *["—"] * 8, "0", "1"],
        ["—", "team.two", "", "", *["—"] * 8, "0", "1"],
    ]
    assert "1 without text" in text


def test_runs_that_answered_and_are_not_in_it_are_named(as_olga: Client, cited: Campaign):
    auto = judge(support_condition(cited), {"team.two": {"t2": ["f"]}})
    text, _ = get(as_olga, scores_of(auto))
    assert "1 run answered this topic and is not in this condition: <bdi>team.one</bdi></p>" in text


def test_control_runs_stand_apart_below(as_olga: Client, auto: Condition):
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    _, page = get(as_olga, scores_of(auto))
    assert page.tables[0][-2] == ["Control runs, which are in none of the rows above"]
    assert board(page)[-1][:2] == ["", "team.two"]


def test_a_rehearsal_is_marked_wherever_its_scores_are(as_olga: Client, auto: Condition, cited: Campaign):
    Judge.objects.filter(pk=auto.judge_id).update(is_rehearsal=True)
    run, topic = Run.objects.get(tag="team.one"), cited.topics.get(qid="t1")
    for shown, times in [
        ("/campaigns/study/scores/", 1),
        (scores_of(auto), 1),
        (address("topic_scores", auto, topic.pk), 1),
        (address("run_scores", auto, run.pk), 1),
    ]:
        assert get(as_olga, shown)[0].count("with no model behind it") == times, shown
    assert "team.one,,,Auto (rehearsal),unanswered=0," in "".join(
        score_lines(Condition.objects.get(pk=auto.pk), "csv", Policy.ZERO)
    )


def test_all_runs_on_a_topic(as_olga: Client, auto: Condition, cited: Campaign):
    say(sheet_on(auto, "t2", "team.two"), "0.0", label=None)
    text, page = get(as_olga, address("topic_scores", auto, cited.topics.get(qid="t2").pk))
    [table] = page.tables
    assert table[1:] == [
        ["team.empty", "", "unanswered", *["0.000"] * 8],
        ["team.one", "", "complete", *["0.000"] * 8],
        ["team.two", "", "incomplete", *["—"] * 8],
        *([name, "", "", *["0.000"] * 8] for name in ("minimum", "median", "maximum")),
    ]
    assert "1 citation of all runs." in text
    assert "1 answer cites nothing" in text
    query = "?policy=answered&sort=run"
    _, page = get(as_olga, address("topic_scores", auto, cited.topics.get(qid="t2").pk, query=query))
    assert page.tables[0][1] == ["team.empty", "", "unanswered", *["—"] * 8]


def test_a_run_on_all_topics(as_olga: Client, auto: Condition):
    _, page = get(as_olga, address("run_scores", auto, Run.objects.get(tag="team.two").pk))
    table = page.tables[1]
    assert [row[:4] for row in table[1:]] == [
        ["t1 why do cats purr", "complete", "0.500", "0.375"],
        ["t2 how is glass recycled", "complete", "1.000", "1.000"],
        ["mean", "", "0.750", "0.688"],
        ["standard error", "", "0.250", "0.312"],
    ]


def test_every_address_on_the_pages_leads_somewhere(as_olga: Client, auto: Condition, cited: Campaign):
    run, topic = Run.objects.get(tag="team.one"), cited.topics.get(qid="t1")
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
    assert Event.objects.get(verb="exported").subject == f"scores.Auto.answered.{FORMS[form].ending}"


def test_a_download_of_incomplete_scores_is_409_unless_allowed(as_olga: Client, auto: Condition):
    say(sheet_on(auto, "t1", "team.one"), "0.0", label=None)
    text, page = get(as_olga, address("export_scores", auto, "csv"), status=409)
    assert "1 of 5 answers under Auto are incomplete: some citation has no label" in text
    assert "segments be loaded whose text is not there" in text
    assert not Event.objects.filter(verb="exported").exists()
    [allowed] = [one for one in page.addresses if "allow_incomplete=on" in one]
    response = as_olga.get(address("export_scores", auto, "csv") + allowed)
    assert b"team.one,,,Auto,unanswered=0,2,1,1," in b"".join(response.streaming_content)


def test_nobody_else_sees_them(auto: Condition, cited: Campaign, otto: Person, anna: Person):
    run, topic = Run.objects.get(tag="team.one"), cited.topics.get(qid="t1")
    for person in (otto, anna):
        for shown in [
            scores_of(auto),
            address("topic_scores", auto, topic.pk),
            address("run_scores", auto, run.pk),
            address("export_scores", auto, "csv"),
        ]:
            get(client_of(person), shown, status=404)


def test_names_are_text_and_nothing_else(as_olga: Client, cited: Campaign, import_file):
    evil = "<script>alert(1)</script>"
    import_answers(cited, import_file, {evil: {"t1": ["f"]}})
    auto = judge(support_condition(cited, evil), {evil: {"t1": ["f"]}})
    run, topic = Run.objects.get(tag=evil), cited.topics.get(qid="t1")
    for shown in [scores_of(auto), address("topic_scores", auto, topic.pk), address("run_scores", auto, run.pk)]:
        text, _ = get(as_olga, shown)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "<script>alert" not in text


def test_a_larger_condition_takes_no_more_queries(as_olga: Client, auto: Condition, cited: Campaign, import_file):
    run, topic = Run.objects.get(tag="team.one"), cited.topics.get(qid="t1")
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
        import_answers(cited, import_file, {f"more.{number}": {"t1": ["f"]}})
        judge(auto, {f"more.{number}": {"t1": ["f"]}})
    assert counts() == small
