"""Assignments as files: of every method, what counts and nothing else, and the same bytes each time."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Answer, Campaign, Condition, Import, Run, Topic
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.labels.manual_setups import label_again
from assessor.work.models import Task
from assignment.actions import resolve_label
from assignment.exports import assignment_lines
from assignment.formats import LABELS, labelled, read_sheets, write_sheet
from assignment.models import AnswerSheet
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, C, sheet_of
from tests.assignment.lines import FILE, NOT, PARTIAL, SUPPORT, line, nugget, nuggets, without
from tests.examples import examples
from tests.imports.conftest import other_campaign, told  # noqa: F401
from tests.judging import give, nuggets_of
from tests.nuggets.conftest import do


def records(condition: Condition, **options) -> list[dict]:
    return [json.loads(text) for text in assignment_lines(condition, **options)]


def labels(record: dict) -> list[str | None]:
    return [one.get("assignment") for one in record["nuggets"]]


def imported(campaign: Campaign) -> Condition:
    return campaign.conditions.get(name=FILE["condition"])


# In the order of the exports: topic ids and tags by their bytes, so that "t10" is before "t2" and "Z" before "a".
ODD = [
    line(10, "é", [nugget("a", "vital", NOT)], "", response_length=0),
    line("t1", "Z.one", [nugget("é 😀\n<b>", "vital", "failed"), nugget("same"), nugget("same", "okay", NOT)],
         "Two  \n words ", note={"b": 1, "a": [1.5, None]}, query="Why <b>purr</b>?"),
    line("t1", "a.two", [nugget("é 😀\n<b>", "vital", None), without(nugget("same"), "assignment"),
                         nugget("same", "okay", PARTIAL, why="w", score=2)], response_length="4"),
    line("t10", "a.two", [{"text": "n", "assignment": SUPPORT}, nugget("m", "failed", "")], "\u2028 é"),
    line("t2", "a.two", [nugget("z")]),
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
    done = import_file(campaign, "assignments", ODD[::-1], invalid_labels="missing", **FILE)
    assert told(done) == []
    assert records(imported(campaign)) == ODD
    lines = list(assignment_lines(imported(campaign)))
    # In NIST's order of keys, whatever the order of the file.
    assert [list(json.loads(text))[:6] for text in lines] == [
        ["query", "qid", "nuggets", "run_id", "answer_text", "response_length"]
    ] * 5
    assert told(import_file(other, "assignments", "".join(lines), invalid_labels="missing", **FILE)) == []
    assert list(assignment_lines(imported(other))) == lines
    again = import_file(campaign, "assignments", "".join(lines), invalid_labels="missing", **FILE)
    assert again.report["counts"]["sheets already there"] == 5
    said = [
        [(sheet.labels.get(str(one)), sheet.invalid.get(str(one))) for one in nuggets_of(sheet.bank)]
        for sheet in AnswerSheet.objects.filter(condition=imported(campaign), answer__topic__qid="t1").order_by("pk")
    ]
    assert said == [[(None, None), (None, None), (PARTIAL, None)], [(None, "failed"), (SUPPORT, None), (NOT, None)]]


def test_nuggets_go_out_in_the_banks_order(campaign, import_file):
    swapped = line("t1", "r2", [nugget("kittens purr", "okay", NOT, why="w"), *nuggets(NOT, SUPPORT, NOT)[:2]])
    import_file(campaign, "assignments", [line(), swapped], **FILE)
    _, second = records(imported(campaign))
    assert second["nuggets"] == [*swapped["nuggets"][1:], swapped["nuggets"][0]]


def test_another_name_of_a_run_goes_out_as_it_came(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nteam.cats,,,,,cats\n")
    import_file(campaign, "assignments", [line(run_id="cats")], **FILE)
    assert records(imported(campaign)) == [line(run_id="cats")]


def test_of_these_topics_and_runs_alone(campaign, import_file):
    file = [line("t1", "r1"), line("t1", "r2"), line("t2", "r1", [nugget("a")])]
    import_file(campaign, "assignments", file, **FILE)
    condition = imported(campaign)
    first, runs = Topic.objects.get(qid="t1"), {run.tag: run for run in Run.objects.all()}
    assert records(condition, topics=[first]) == file[:2]
    assert records(condition, runs=[runs["r1"]]) == [file[0], file[2]]
    assert records(condition, topics=[first], runs=[runs["r2"]]) == [file[1]]
    assert records(condition, topics=[], runs=None) == []


# Labels made here


def label(sheet: AnswerSheet, **said: str | None) -> AnswerSheet:
    """Say something of nuggets, named by their texts."""
    ids = {one.text.replace(" ", "_"): one.pk for one in sheet.bank.nuggets.all()}
    sheet.revise("label", {ids[text]: {"label": label} for text, label in said.items()}, judge_id=sheet.judge_id)
    return sheet


def test_what_a_person_said_goes_out_and_what_nobody_said_is_no_label(task, manual):
    label(sheet_of(task, "team.one"), purring_heals=SUPPORT, kittens_purr=NOT)
    assert records(manual) == [
        {
            "query": "why do cats purr",
            "qid": "t1",
            "nuggets": [
                {"text": "purring heals", "importance": "vital", "assignment": "not_support"},
                {"text": "cats purr when content", "importance": "vital", "assignment": "not_support"},
                {"text": "kittens purr", "importance": "okay", "assignment": "not_support"},
            ],
            "run_id": "team.empty",
            "answer_text": "",
            "response_length": 0,
        },
        {
            "query": "why do cats purr",
            "qid": "t1",
            "nuggets": [
                {"text": "purring heals", "importance": "vital", "assignment": "support"},
                {"text": "cats purr when content", "importance": "vital"},
                {"text": "kittens purr", "importance": "okay", "assignment": "not_support"},
            ],
            "run_id": "team.one",
            "answer_text": "Cats purr to heal. They also purr when content.",
            "response_length": 9,
        },
        {
            "query": "why do cats purr",
            "qid": "t1",
            "nuggets": [{"text": text, "importance": value} for text, value in (
                ("purring heals", "vital"), ("cats purr when content", "vital"), ("kittens purr", "okay")
            )],
            "run_id": "team.two",
            "answer_text": "Dogs bark.",
            "response_length": 2,
        },
    ]  # fmt: skip


def test_cannot_judge_is_no_label_and_an_adopted_label_is_one(task, manual, topic, anna, ben, olga, nugget_ids):
    sheet = label(sheet_of(task, "team.one"), purring_heals=SUPPORT)
    sheet.revise("cannot", {nugget_ids[B]: {"cannot": "unclear"}}, judge_id=sheet.judge_id)
    assert labels(records(manual)[1]) == [SUPPORT, None, None]
    second = label_again(of=manual, name="second", purpose="second", only_unjudgeable=True, acting_user=olga)
    other = give(second, topic, ben)
    others = label(sheet_of(other, "team.one"), cats_purr_when_content=PARTIAL)
    # Of what was asked in part, that part goes out.
    [part] = records(second)
    assert part["nuggets"] == [nugget("cats purr when content", "vital", PARTIAL)]
    Task.objects.filter(pk=task.pk).update(state="finished")
    sheet = AnswerSheet.objects.get(pk=sheet.pk)
    resolve_label(sheet=sheet, nugget=nugget_ids[B], other=others, acting_user=olga)
    assert labels(records(manual)[1]) == [SUPPORT, PARTIAL, None]


def test_a_stale_label_does_not_go_out_and_nuggets_are_those_of_the_last_edition(task, manual, finished, olga):
    label(sheet_of(task, "team.one"), purring_heals=SUPPORT, cats_purr_when_content=PARTIAL, kittens_purr=NOT)
    bank = nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
    do(bank, nugget_actions.reword_nugget, uid=A, text="purring heals bones")
    do(bank, nugget_actions.set_importance, uid=B, importance="okay")
    # Not while it is edited: labels are about what was finished.
    assert records(manual)[1]["nuggets"] == nuggets(SUPPORT, PARTIAL, NOT)
    do(bank, nugget_actions.delete_nugget, uid=C)
    do(bank, nugget_actions.finish_bank)
    assert records(manual)[1]["nuggets"] == [
        {"text": "purring heals bones", "importance": "vital"},
        {"text": "cats purr when content", "importance": "okay", "assignment": PARTIAL},
    ]


def test_labels_of_an_unfinished_import_do_not_go_out(campaign, import_file):
    done = import_file(campaign, "assignments", [line()], **FILE)
    condition = imported(campaign)
    Import.objects.filter(pk=done.pk).update(state=Import.State.RUNNING)
    assert records(condition) == []


def test_an_export_reads_a_topic_at_a_time(campaign, import_file, django_assert_num_queries):
    """A query a topic and one for them all, however many answers there are."""
    file = [line(qid, f"r{number}", [nugget("a")]) for number in range(40) for qid in ("t1", "t2")]
    import_file(campaign, "assignments", file, **FILE)
    condition = imported(campaign)
    with django_assert_num_queries(3):
        assert len(list(assignment_lines(condition))) == 80


# Whatever a file holds

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
NUGGET = st.fixed_dictionaries(
    {"text": TEXT.filter(str.strip)},
    optional={"importance": st.sampled_from(["vital", "okay"]) | JSON, "assignment": st.sampled_from(LABELS) | JSON,
              "why": JSON},
)  # fmt: skip
RECORD = st.fixed_dictionaries(
    {
        "query": TEXT,
        "qid": st.sampled_from(["t1", 7]),
        "nuggets": st.lists(NUGGET, min_size=1, max_size=4),
        "run_id": st.sampled_from(["r1", "é"]),
        "answer_text": TEXT,
        "response_length": st.integers(0, 3) | JSON,
    },
    optional={"note": JSON},
)


def read(text: str, **options: str) -> tuple[list, Report]:
    report = Report("file")
    return list(read_sheets([Line(1, text)], report, **options)), report


def written(sheet) -> str:
    spelt = []
    for at, (one, label) in enumerate(zip(sheet.nuggets, sheet.labels, strict=True)):
        found = {"assignment": label} if label else {}
        if at in sheet.invalid:
            found = {"assignment": sheet.invalid[at]}
        spelt.append(labelled(one.text, one.importance, found, one.extras))
    words = len(sheet.text.split())
    return write_sheet(sheet.query, sheet.qid, spelt, sheet.run_id, sheet.text, words, sheet.extras)


@given(RECORD)
def test_what_is_read_is_written_as_it_came(record):
    [sheet], report = read(json.dumps(record), invalid_labels="missing")
    assert report.error_count == 0
    assert json.loads(written(sheet)) == record
    assert read(written(sheet), invalid_labels="missing")[0] == [sheet._replace(line=Line(1, written(sheet)))]
    # No label is made up, and each that is missing is counted.
    stated = [one.get("assignment") for one in record["nuggets"]]
    good = [label if isinstance(label, str) and label in LABELS else "" for label in stated]
    assert sheet.labels == good
    assert report.counts["assignments missing"] == good.count("")
    strict, refusals = read(json.dumps(record), invalid_labels="")
    assert bool(strict) == (refusals.error_count == 0)
    assert refusals.error_count == good.count("") + report.counts["importance made absent"]


def in_order(some: list[dict]) -> list[dict]:
    return sorted(some, key=lambda record: json.dumps(record, sort_keys=True))


@settings(max_examples=examples(15, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RECORD, min_size=1, max_size=3, unique_by=lambda one: (one["qid"], one["run_id"])))
@pytest.mark.django_db
def test_a_file_comes_back_as_it_was(olga, import_file, found):
    campaign = create_campaign(name="One", slug=f"c{Campaign.objects.count()}", acting_user=olga)
    import_file(campaign, "topics", "t1\twhy\n7\tseven\n")
    bank_of: dict = {}
    for record in found:  # the lines of a topic have the same nuggets
        record["nuggets"] = bank_of.setdefault(record["qid"], record["nuggets"])
    done = import_file(campaign, "assignments", found, invalid_labels="missing", **FILE)
    assert told(done) == []
    out = records(imported(campaign))
    assert in_order(out) == in_order(found)
    again = import_file(campaign, "assignments", out, invalid_labels="missing", **FILE)
    assert again.report["counts"]["sheets already there"] == len(found)
    assert NuggetBank.objects.filter(topic__campaign=campaign).count() == len(bank_of)
    assert Answer.objects.filter(topic__campaign=campaign).count() == len(found)
