"""Support judgments as files: of every method, what counts and nothing else, and the same bytes each time."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assessor.campaigns.actions import create_campaign, judge_of
from assessor.campaigns.models import Answer, Campaign, Condition, Import, Run, Topic
from assessor.formats.lines import Line
from assessor.formats.report import Report
from support.actions import add_sheets, sheet_row
from support.exports import support_lines
from support.formats import read_sheets
from support.models import SupportSheet
from tests.examples import examples
from tests.imports.conftest import other_campaign, told  # noqa: F401
from tests.judging import put
from tests.support.judging_helpers import cited
from tests.support.lines import (
    FILE,
    FULL,
    HEALS,
    NAN,
    NONE,
    NOT_JUDGED,
    PARTIAL,
    citation,
    cites,
    line,
    sentence,
    spelt_otherwise,
    usual,
    without,
)


def records(condition: Condition, **options) -> list[dict]:
    return [json.loads(text) for text in support_lines(condition, **options)]


def imported(campaign: Campaign) -> Condition:
    return campaign.conditions.get(name=FILE["condition"])


def same(one, other) -> bool:
    """Compare JSON in which a NaN is equal to a NaN."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return len(one) == len(other) and all(map(same, one, other)) if isinstance(one, list) else one == other


# In the order of the exports: topic ids and tags by their bytes, so that "t10" is before "t2" and "Z" before "a".
ODD = [
    line(10, "é"),
    line("t1", "Z.one", sentence(NAN, citation("d1", "failed", note={"b": [1.5, None]})), cites("é 😀\n<b> "), why=1),
    line("t1", "a.two", sentence("a", citation("d2", None, 0), without(citation("d1", number=3), "support"))),
    line("t10", "a.two") | {"sentences": [sentence("x", citation("d1", NONE, 9), number=7, worthy="no")]},
    usual("t2", "a.two"),
]  # fmt: skip


@pytest.fixture
def odd(campaign, other_campaign, import_file):  # noqa: F811
    """Two campaigns with the topics of the odd lines."""
    for target in (campaign, other_campaign):
        import_file(target, "topics", "t10\tten\n10\t10\n")
    import_file(other_campaign, "topics", "t1\twhy do cats purr\nt2\thow is glass recycled\n")
    return campaign, other_campaign


def test_what_came_in_goes_out_and_comes_in_again_as_the_same(odd, import_file):
    campaign, other = odd
    done = import_file(campaign, "support", ODD[::-1], invalid_labels="missing", **FILE)
    assert told(done) == []
    assert same(records(imported(campaign)), ODD)
    lines = list(support_lines(imported(campaign)))
    first = json.loads(lines[1])
    assert [*first, *first["sentences"][0]] == [
        "topic_id",
        "run_id",
        "sentences",
        "why",
        "sentenceID",
        "text",
        "citations",
    ]
    assert [*first["sentences"][0]["citations"][0]] == ["citationID", "reference", "support", "note"]
    assert '"text": NaN' in lines[1]
    assert told(import_file(other, "support", "".join(lines), invalid_labels="missing", **FILE)) == []
    assert list(support_lines(imported(other))) == lines
    again = import_file(campaign, "support", "".join(lines), invalid_labels="missing", **FILE)
    assert again.report["counts"]["sheets already there"] == 5


def test_the_second_form_goes_out_in_the_first(campaign, import_file):
    file = [usual(), line("t2", "r1", sentence(NAN, citation("d1", PARTIAL, 4)))]
    import_file(campaign, "support", [spelt_otherwise(one) for one in file], **FILE)
    for record in (found := records(imported(campaign))):
        for one in record["sentences"]:
            assert (one.pop("verification_worthy"), one.pop("citationsCombibed")) == (True, None)
    assert same(found, file)


def test_another_name_of_a_run_goes_out_as_it_came(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nteam.cats,,,,,cats\n")
    import_file(campaign, "support", [usual(run_id="cats")], **FILE)
    assert records(imported(campaign)) == [usual(run_id="cats")]


def test_of_these_topics_and_runs_alone(campaign, import_file):
    file = [usual("t1", "r1"), usual("t1", "r2"), usual("t2", "r1")]
    import_file(campaign, "support", file, **FILE)
    condition = imported(campaign)
    first, runs = Topic.objects.get(qid="t1"), {run.tag: run for run in Run.objects.all()}
    assert records(condition, topics=[first]) == file[:2]
    assert records(condition, runs=[runs["r1"]]) == [file[0], file[2]]
    assert records(condition, topics=[first], runs=[runs["r2"]]) == [file[1]]
    assert records(condition, topics=[], runs=None) == []


def test_labels_of_an_unfinished_import_do_not_go_out(campaign, import_file):
    done = import_file(campaign, "support", [usual()], **FILE)
    condition = imported(campaign)
    Import.objects.filter(pk=done.pk).update(state=Import.State.RUNNING)
    assert records(condition) == []


def test_an_export_reads_a_topic_at_a_time(campaign, import_file, django_assert_num_queries):
    """A query a topic and one for them all, however many answers there are."""
    import_file(campaign, "support", [usual(qid, f"r{at}") for at in range(40) for qid in ("t1", "t2")], **FILE)
    condition = imported(campaign)
    with django_assert_num_queries(3):
        assert len(list(support_lines(condition))) == 80


# Labels made here


@pytest.fixture
def here(campaign, import_file, olga) -> Condition:
    """A condition of this server, on a run whose sentences cite two passages and one; the first of each is judged."""
    answer = [
        {"text": HEALS[0], "citations": [1, 0]},
        {"text": HEALS[1], "citations": [2]},
        {"text": "Hm.", "citations": []},
    ]
    import_file(
        campaign, "runs", [{"run_id": "r1", "topic_id": "t1", "references": ["d1", "d2", "d3"], "answer": answer}]
    )
    condition = Condition.objects.create(
        campaign=campaign,
        name="From scratch",
        kind="support",
        method="support from scratch",
        protocol=campaign.protocol,
    )
    answer = Answer.objects.get()
    asked = cited(answer, ["0.0", "1.0"])
    add_sheets([sheet_row(condition=condition.pk, answer=answer.pk, judge=judge_of(olga).pk, asked=asked)])
    return condition


def test_what_was_said_here_goes_out_and_what_nobody_said_is_no_label(here):
    sheet = SupportSheet.objects.get()
    sheet.revise("label", {"0.0": {"label": "partial", "flag": "odd"}}, judge_id=sheet.judge_id)
    sheet.revise("cannot", {"1.0": {"cannot": "unclear"}}, judge_id=sheet.judge_id)
    expected = {
        "topic_id": "t1",
        "run_id": "r1",
        "sentences": [
            {"sentenceID": 0, "text": HEALS[0], "citations": [{"citationID": 0, "reference": "d2", "support": "1"}]},
            {"sentenceID": 1, "text": HEALS[1], "citations": [{"citationID": 0, "reference": "d3"}]},
            {"sentenceID": 2, "text": "Hm.", "citations": []},
        ],
    }
    assert records(here) == [expected]
    sheet.revise("adopted", {"1.0": {"adopted": "none"}}, judge_id=sheet.judge_id)
    assert records(here)[0]["sentences"][1]["citations"][0]["support"] == "0"


def test_a_citation_that_is_not_the_first_has_its_place_for_a_number(here):
    sheet = SupportSheet.objects.get()
    put([sheet], asked=["0.1"], labels={"0.1": "full"})
    [record] = records(here)
    assert record["sentences"][0]["citations"] == [{"citationID": 1, "reference": "d1", "support": "2"}]


# Whatever a file holds

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
NUMBER = st.integers(0, 3) | st.just("x")
CITATION = st.fixed_dictionaries(
    {"citationID": NUMBER, "reference": st.sampled_from(["d1", "d2", "d3", "é"])},
    optional={"support": st.sampled_from([FULL, PARTIAL, NONE, NOT_JUDGED]) | JSON, "why": JSON, "sentences": JSON},
)
SENTENCE = st.fixed_dictionaries(
    {
        "sentenceID": NUMBER,
        "text": TEXT | st.just(NAN),
        "citations": st.lists(CITATION, max_size=3, unique_by=lambda one: one["reference"]),
    },
    optional={"why": JSON, "citation": JSON},
)
RECORD = st.fixed_dictionaries(
    {
        "topic_id": st.sampled_from(["t1", 7]),
        "run_id": st.sampled_from(["r1", "é"]),
        "sentences": st.lists(SENTENCE, max_size=3),
    },
    optional={"note": JSON, "citations": JSON},
)  # fmt: skip


@given(RECORD)
def test_no_label_is_made_up_and_each_that_is_missing_is_counted(record):
    def read(invalid_labels_missing):
        report = Report("file")
        text = json.dumps(record)
        return list(read_sheets([Line(1, text)], report, invalid_labels_missing=invalid_labels_missing)), report

    [sheet], report = read(True)
    assert report.error_count == 0
    stated = [one.get("support") for each in record["sentences"] for one in each["citations"]]
    labels = {FULL: "full", PARTIAL: "partial", NONE: "none", NOT_JUDGED: "not judged"}
    good = [labels.get(label, "") if isinstance(label, str) else "" for label in stated]
    assert [one.label for each in sheet.sentences for one in each.citations] == good
    assert report.counts["support judgments missing"] == good.count("")
    strict, refusals = read(False)
    assert (bool(strict), refusals.error_count) == ("" not in good, good.count(""))


def in_order(some: list[dict]) -> list[dict]:
    return sorted(some, key=lambda record: json.dumps(record, sort_keys=True))


@settings(max_examples=examples(15, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RECORD, min_size=1, max_size=3, unique_by=lambda one: (one["topic_id"], one["run_id"])))
@pytest.mark.django_db
def test_a_file_comes_back_as_it_was(olga, import_file, found):
    campaign = create_campaign(name="One", slug=f"c{Campaign.objects.count()}", acting_user=olga)
    import_file(campaign, "topics", "t1\twhy\n7\tseven\n")
    done = import_file(campaign, "support", found, invalid_labels="missing", **FILE)
    assert told(done) == []
    out = records(imported(campaign))
    assert same(in_order(out), in_order(found))
    again = import_file(
        campaign, "support", "".join(support_lines(imported(campaign))), invalid_labels="missing", **FILE
    )
    assert again.report["counts"]["sheets already there"] == len(found)
