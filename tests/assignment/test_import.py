"""Assignments that come in from files: what is taken, refused and warned of, and what comes with them."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from assessor.campaigns.models import Answer, Condition, Import, Judge, Run, RunAlias
from assessor.imports import importer
from assignment.exports import assignment_lines
from assignment.loaders import AssignmentLoader
from assignment.models import AnswerSheet, Assignment, LabelEvent
from nuggets import actions as nugget_actions
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.assignment.conftest import A, B, C
from tests.assignment.lines import FILE, NOT, NUGGETS, PARTIAL, SUPPORT, line, nugget, nuggets, without
from tests.imports.conftest import other_campaign, refuses, rows, told, warned  # noqa: F401
from tests.judging import nuggets_of
from tests.nuggets.conftest import do

LACKING = "a topic of the campaign; load the topics first"
EXPECTED = "support, partial_support or not_support"


def sheet(campaign, tag="r1", qid="t1", name=FILE["condition"]) -> AnswerSheet:
    return AnswerSheet.objects.get(
        condition__campaign=campaign, condition__name=name, answer__run__tag=tag, answer__topic__qid=qid
    )


def further(of: AnswerSheet) -> dict[int, dict[str, object]]:
    """Return what a line had of nuggets besides, by their ids."""
    return {row.nugget_id: row.raw for row in of.assignments.all() if row.raw}


def said(of: AnswerSheet) -> list[str]:
    """Return a sheet's labels in the bank's order, "" where there is none."""
    return [of.labels.get(str(nugget), "") for nugget in nuggets_of(of.bank)]


def everything(campaign) -> tuple:
    """Return all that labels are, and what they refer to."""
    sheets = AnswerSheet.everything.filter(condition__campaign=campaign).order_by("pk")
    answers = Answer.everything.filter(run__campaign=campaign).order_by("pk")
    labels = Assignment.everything.filter(sheet__in=sheets).order_by("pk")
    nuggets = Nugget.objects.order_by("pk")
    return tuple(list(records.values()) for records in (sheets, labels, answers, nuggets))


def test_labels_make_conditions_with_banks_runs_answers_and_sheets(campaign, import_file):
    file = [
        line(),
        line("t1", "r2", nuggets(NOT, NOT, SUPPORT), "Dogs  bark\nloudly."),
        line("t2", "r1", [nugget("glass is melted", "okay", PARTIAL)], "It is melted."),
    ]
    done = import_file(campaign, "assignments", file, **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "conditions added": 2, "banks added": 2, "nuggets added": 4, "runs added": 2, "answers added": 3,
        "sheets added": 3, "labels added": 7, "lines": 3,
    }  # fmt: skip
    condition, of_nuggets = campaign.conditions.order_by("name")
    assert (condition.name, condition.kind, condition.method) == ("Edits/Manual", "assignment", "imported")
    assert (of_nuggets.name, of_nuggets.kind, of_nuggets.method) == ("Edits/Manual nuggets", "nuggets", "imported")
    assert condition.nuggets == of_nuggets
    assert [one.judge.parameters for one in (condition, of_nuggets)] == [{"by": "people"}] * 2
    assert condition.judge.name == "Edits/Manual"
    bank = NuggetBank.objects.get(topic__qid="t1")
    assert (bank.condition, bank.state, bank.edition, bank.task) == (of_nuggets, "finished", 1, None)
    edition = BankEdition.objects.get(bank=bank)
    assert [(one["text"], one["importance"]) for one in edition.nuggets] == NUGGETS
    assert [one["uid"] for one in edition.nuggets] == bank.order

    first = sheet(campaign)
    assert (first.bank, first.judge, first.edition, first.asked) == (bank, condition.judge, 1, None)
    assert first.labels == dict(zip(map(str, nuggets_of(bank)), [SUPPORT, PARTIAL, NOT], strict=True))
    assert (first.to_do, first.by_rule, first.invalid, first.extras) == (0, False, {}, {})
    assert said(sheet(campaign, "r2")) == [NOT, NOT, SUPPORT]
    assert said(sheet(campaign, "r1", "t2")) == [PARTIAL]
    answer = sheet(campaign, "r2").answer
    assert (answer.form, answer.apart, answer.words, answer.references) == ("text", False, 3, [])
    assert answer.content == [{"text": "Dogs  bark\nloudly.", "citations": []}]
    assert not LabelEvent.objects.exists()


def test_importing_twice_changes_nothing(campaign, import_file, rows):  # noqa: F811
    file = [line(), line("t1", "r2"), line("t2", "r1", [nugget("a")])]
    import_file(campaign, "assignments", file, **FILE)
    before = rows(), everything(campaign)
    again = import_file(campaign, "assignments", file, **FILE)
    assert again.report["counts"] == {"sheets already there": 3, "lines": 3}
    assert (rows(), everything(campaign)) == before


def test_further_files_add_answers_and_topics(campaign, import_file):
    import_file(campaign, "assignments", [line()], **FILE)
    more = import_file(campaign, "assignments", [line(), line(run_id="r2"), line("t2", said=[nugget("a")])], **FILE)
    assert more.report["counts"] == {
        "banks added": 1, "nuggets added": 1, "runs added": 1, "answers added": 2, "sheets added": 2,
        "sheets already there": 1, "labels added": 4, "lines": 3,
    }  # fmt: skip
    assert (campaign.conditions.count(), AnswerSheet.objects.count(), BankEdition.objects.count()) == (2, 3, 2)


TWO = [nugget("a"), nugget("b", "okay", NOT)]
BAD = [
    pytest.param(line("t2", said=[]), "nuggets", "an empty list", "at least one nugget", id="no-nuggets"),
    pytest.param(line("t9"), "qid", "t9", LACKING, id="topic"),
    pytest.param(line("t1"), "run_id", "r1 on t1", "each once; it stands on line 1 already", id="twice"),
    pytest.param(line(run_id=""), "run_id", "", "an id that is not empty", id="run-empty"),
    pytest.param(line(run_id=7), "run_id", "7", "an id, as text", id="run-number"),
    pytest.param(line("t2", text="") | {"answer_text": None}, "answer_text", "None", "text", id="text-null"),
    pytest.param(line("t2", said={"a": 1}), "nuggets", "{'a': 1}", "a list of nuggets", id="nuggets-object"),
    pytest.param(line("t2", said="abc"), "nuggets", "abc", "a list of nuggets", id="nuggets-text"),
    pytest.param(line("t2", said=["abc"]), "nuggets[0]", "abc", "an object with text", id="nugget-text"),
    pytest.param(line("t2", said=[nugget(" ")]), "nuggets[0].text", " ", "text that is not blank", id="blank"),
    pytest.param(line("t2", said=[nugget(5)]), "nuggets[0].text", "5", "text", id="text-number"),
    *(
        pytest.param(line("t2", said=[TWO[0], nugget("b", "okay", found)]), "nuggets[1].assignment", shown, EXPECTED,
                     id=f"label-{shown}")
        for found, shown in [
            ("failed", "failed"), ("", ""), ("educate_others", "educate_others"), ("Support", "Support"),
            ("support ", "support "), (None, "None"), (1, "1"), (True, "True"), ([SUPPORT], "['support']"),
            ({}, "{}"), ("full support", "full support"),
        ]
    ),
    pytest.param(
        line("t2", said=[TWO[0], without(TWO[1], "assignment")]),
        "nuggets[1].assignment", "keys text, importance", EXPECTED, id="no-label",
    ),
    *(
        pytest.param(
            line("t2", said=[nugget("a", found)]), "nuggets[0].importance", shown, "vital, okay, or no such key",
            id=f"importance-{shown}",
        )
        for found, shown in [("failed", "failed"), ("", ""), (None, "None"), (["vital"], "['vital']")]
    ),
    *(
        pytest.param(
            without(line("t2"), key), key, "keys " + ", ".join(without(line("t2"), key)), f"the key {key}",
            id=f"no-{key}",
        )
        for key in ("query", "qid", "nuggets", "run_id", "answer_text", "response_length")
    ),
    pytest.param(
        line(run_id="r2", said=nuggets(NOT, NOT, NOT)[:2]),
        "nuggets", "no nugget kittens purr", "all of the nuggets of t1 on line 1", id="bank-shorter",
    ),
    pytest.param(
        line(run_id="r2", said=[*nuggets(NOT, NOT, NOT), nugget("dogs purr")]),
        "nuggets[3].text", "dogs purr", "one of the nuggets of t1 on line 1", id="bank-longer",
    ),
    pytest.param(
        line(run_id="r2", said=[*nuggets(NOT, NOT, NOT), nugget("kittens purr", "okay")]),
        "nuggets[3].text", "kittens purr", "one of the nuggets of t1 on line 1", id="bank-with-one-twice",
    ),
    pytest.param(
        line(run_id="r2", said=[*nuggets(NOT, NOT, NOT)[:2], nugget("kittens purr", "vital")]),
        "nuggets[2].importance", "vital", "okay, as in the nuggets of t1 on line 1", id="other-importance",
    ),
    pytest.param(
        line(run_id="r2", said=[*nuggets(NOT, NOT, NOT)[:2], without(nugget("kittens purr"), "importance")]),
        "nuggets[2].importance", "no importance", "okay, as in the nuggets of t1 on line 1", id="no-importance",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "field", "found", "expected"), BAD)
def test_bad_lines(campaign, refuses, bad, field, found, expected):  # noqa: F811
    refuses(campaign, "assignments", [json.dumps(line())], json.dumps(bad), (field, found, expected), **FILE)


def test_every_bad_label_and_importance_of_a_line_is_named(campaign, import_file):
    bad = [nugget("a", "failed", "audit firm partner"), nugget("b", "okay", ""), nugget("c", "", NOT)]
    refused = import_file(campaign, "assignments", [line("t1", said=bad), line("t2", said=bad)], **FILE)
    assert refused.report["error_count"] == 8
    assert [(number, field, found) for number, field, found, _ in told(refused)] == [
        (number, f"nuggets[{at}].{key}", found)
        for number in (1, 2)
        for at, key, found in [
            (0, "assignment", "audit firm partner"), (0, "importance", "failed"), (1, "assignment", ""),
            (2, "importance", ""),
        ]
    ]  # fmt: skip


def test_what_is_no_label_becomes_missing_where_asked_and_never_not_support(campaign, import_file):
    found = ["failed", "", None, 1, ["support"], "Not_support"]
    bad = [nugget(f"n{at}", assignment=label) for at, label in enumerate(found)]
    bad += [without(nugget("lacking"), "assignment"), nugget("good", assignment=NOT)]
    done = import_file(campaign, "assignments", [line(said=bad)], invalid_labels="missing", **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert (done.report["counts"]["assignments missing"], done.report["counts"]["labels added"]) == (7, 1)
    assert warned(done) == {
        "assignment missing": [
            (1, f"nuggets[{at}].assignment", shown, EXPECTED)
            for at, shown in enumerate(
                ["failed", "", "None", "1", "['support']", "Not_support", "keys text, importance"]
            )
        ]
    }
    there = sheet(campaign)
    *ids, lacking, good = map(str, nuggets_of(there.bank))
    assert there.labels == {good: NOT}
    assert there.invalid == dict(zip(ids, found, strict=True))
    assert lacking not in there.invalid
    assert there.to_do == 7


def test_what_is_no_label_counts_as_not_support_where_asked_and_the_identity_says_so(campaign, import_file):
    """As the nuggetizer's scores: 0, and in the denominator. What the file had there is kept beside it."""
    bad = [nugget("n0", "vital", "failed"), nugget("n1", "vital", None), without(nugget("n2"), "assignment")]
    file = [line(said=[*bad, nugget("n3", "vital", SUPPORT), nugget("n4", "failed", SUPPORT)])]
    done = import_file(campaign, "assignments", file, invalid_labels="not_support", **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert done.report["counts"]["assignments taken for not_support"] == 3
    assert "assignments missing" not in done.report["counts"]
    assert done.report["counts"]["importance made absent"] == 1
    there = sheet(campaign)
    assert (said(there), there.to_do) == ([NOT, NOT, NOT, SUPPORT, SUPPORT], 0)
    assert there.invalid == dict(zip(map(str, nuggets_of(there.bank)[:2]), ["failed", None], strict=True))
    assert there.condition.counts_invalid_labels
    assert "; invalid labels=not_support; " in there.condition.identity
    assert "invalid" not in there.condition.nuggets.identity
    [out] = map(json.loads, assignment_lines(there.condition))
    assert [one["assignment"] for one in out["nuggets"]] == said(there)
    again = import_file(campaign, "assignments", file, invalid_labels="not_support", **FILE)
    assert (again.state, again.report["counts"]["sheets already there"]) == (Import.State.DONE, 1)


@pytest.mark.parametrize(("first", "second"), [("not_support", "missing"), ("missing", "not_support")])
def test_labels_of_a_condition_are_all_counted_alike(campaign, import_file, first, second):
    import_file(campaign, "assignments", [line(said=[nugget("a")])], invalid_labels=first, **FILE)
    more = [line(run_id="r2", said=[nugget("a", assignment="failed")])]
    refused = import_file(campaign, "assignments", more, invalid_labels=second, **FILE)
    before = "not_support" if first == "not_support" else "errors or missing"
    assert (0, "invalid labels", second, f"{before}, as Edits/Manual has them already") in told(refused)
    assert refused.report["errors"][0]["remedy"].startswith("Import the file under another name")


def test_a_refused_label_says_which_options_take_it(campaign, import_file):
    bad = [nugget("a", assignment="failed"), nugget("b", "failed")]
    refused = import_file(campaign, "assignments", [line(said=bad)], **FILE)
    as_missing = (
        "Import it with --invalid-labels missing, or with “Grades, importances and labels that are none” on the page."
    )
    assert [(one["field"], one["remedy"]) for one in refused.report["errors"]] == [
        ("nuggets[0].assignment", f"{as_missing} As not_support it counts 0, as in the nuggetizer's scores."),
        ("nuggets[1].importance", as_missing),
    ]


def test_importance_that_is_none_is_absent_where_asked_and_kept_with_the_line(campaign, import_file):
    bad = [nugget("a", "failed"), nugget("b", ""), without(nugget("c"), "importance"), nugget("d", "okay")]
    file = [line(said=bad), line(run_id="r2", said=bad)]
    done = import_file(campaign, "assignments", file, invalid_labels="missing", **FILE)
    assert done.report["counts"]["importance made absent"] == 4
    bank = NuggetBank.objects.get()
    [edition] = bank.editions.all()
    assert [one["importance"] for one in edition.nuggets] == ["", "", "", "okay"]
    first, second, *_ = nuggets_of(bank)
    for tag in ("r1", "r2"):
        assert further(sheet(campaign, tag)) == {first: {"importance": "failed"}, second: {"importance": ""}}


def test_equal_nuggets_are_told_apart_by_their_order(campaign, import_file):
    twice = [nugget("same", "vital", SUPPORT), nugget("other", "okay", NOT), nugget("same", "okay", PARTIAL)]
    shuffled = [nugget("other", "okay", PARTIAL), nugget("same", "vital", NOT), nugget("same", "okay", SUPPORT)]
    file = [line(said=twice), line(run_id="r2", said=shuffled)]
    assert told(import_file(campaign, "assignments", file, **FILE)) == []
    assert said(sheet(campaign)) == [SUPPORT, NOT, PARTIAL]
    assert said(sheet(campaign, "r2")) == [NOT, PARTIAL, SUPPORT]
    wrong = [shuffled[0], shuffled[2], shuffled[1]]
    refused = import_file(campaign, "assignments", [line(run_id="r3", said=wrong)], **FILE)
    assert [(field, found) for _, field, found, _ in told(refused)] == [
        ("nuggets[1].importance", "okay"), ("nuggets[2].importance", "vital")
    ]  # fmt: skip


def test_further_keys_are_kept_with_their_nugget_wherever_it_stands(campaign, import_file):
    file = [
        line(note={"a": 1}, response_length="4"),
        line("t1", "r2", [nugget("kittens purr", "okay", NOT, why="no"), *nuggets(NOT, NOT, NOT)[:2]]),
    ]
    done = import_file(campaign, "assignments", file, **FILE)
    assert warned(done) == {"response_length differs": [(1, "response_length", "4", "4, the words counted")]}
    assert sheet(campaign).extras == {"note": {"a": 1}, "response_length": "4"}
    last = sheet(campaign, "r2")
    assert last.extras == {}
    assert further(last) == {nuggets_of(last.bank)[2]: {"why": "no"}}


def test_warnings(campaign, import_file):
    file = [
        line("t1", "r1", query="Why purr?"),
        line("t1", "r2", query="Why purr?"),
        line("t2", "r1", [nugget("a")], response_length=5),
    ]
    done = import_file(campaign, "assignments", file, **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert warned(done) == {
        "query differs": [(1, "query", "Why purr?", "why do cats purr, the topic's title")],  # once for all runs
        "response_length differs": [(3, "response_length", "5", "4, the words counted")],
    }
    assert sheet(campaign, "r2").extras == {"query": "Why purr?"}


def test_labels_of_an_empty_answer_are_the_files_own(campaign, import_file):
    import_file(campaign, "assignments", [line(text="", said=nuggets(NOT, NOT, SUPPORT))], **FILE)
    there = sheet(campaign)
    assert (said(there), there.by_rule, there.answer.words) == ([NOT, NOT, SUPPORT], False, 0)


OTHER = [
    pytest.param(
        {"nuggets": nuggets(SUPPORT, NOT, NOT)},
        ("assignment", "not_support of cats purr when content", f"{PARTIAL}, as Edits/Manual has r1 on t1 already"),
        id="label",
    ),
    pytest.param(
        {"answer_text": "Cats purr to be fed."},
        ("answer_text", "Cats purr to be fed.", "the same text as Edits/Manual has r1 on t1 already"),
        id="text",
    ),
    pytest.param({"note": 1}, ("", "another line", "the same line as Edits/Manual has r1 on t1 already"), id="key"),
    pytest.param(
        {"answer_text": "Cats purr  to heal."},
        ("", "another line", "the same line as Edits/Manual has r1 on t1 already"),
        id="blanks",
    ),
]


@pytest.mark.parametrize(("change", "error"), OTHER)
def test_another_line_than_the_loaded_one_is_refused(campaign, import_file, rows, change, error):  # noqa: F811
    import_file(campaign, "assignments", [line()], **FILE)
    before = rows(), everything(campaign)
    other = line() | change
    other["response_length"] = len(other["answer_text"].split())
    refused = import_file(campaign, "assignments", [line(run_id="r2"), other], **FILE)
    assert (refused.state, told(refused)) == (Import.State.REFUSED, [(2, *error)])
    assert (rows(), everything(campaign)) == before


def test_a_label_where_none_was_is_another_line(campaign, import_file):
    lacking = [*nuggets(SUPPORT, NOT, NOT)[:2], without(nuggets(NOT, NOT, NOT)[2], "assignment")]
    import_file(campaign, "assignments", [line(said=lacking)], invalid_labels="missing", **FILE)
    refused = import_file(campaign, "assignments", [line(said=nuggets(SUPPORT, NOT, NOT))], **FILE)
    expected = "no label, as Edits/Manual has r1 on t1 already"
    assert told(refused) == [(1, "assignment", "not_support of kittens purr", expected)]


# Conditions


def test_nuggets_that_are_loaded_already_are_the_ones_meant(campaign, import_file):
    bank = {"query": "", "qid": "t1", "nuggets": [{"text": text, "importance": value} for text, value in NUGGETS]}
    import_file(campaign, "nuggets", [bank], condition="Mia's", by="model")
    file = [line(), line("t2", said=[nugget("a")])]
    done = import_file(campaign, "assignments", file, nuggets="Mia's", **FILE)
    assert done.report["counts"]["banks added"] == 1  # that of t2 goes to the same condition
    of_nuggets = campaign.conditions.get(name="Mia's")
    assert campaign.conditions.get(name="Edits/Manual").nuggets == of_nuggets
    assert (of_nuggets.nugget_banks.count(), of_nuggets.judge.parameters) == (2, {"by": "model"})
    assert NuggetBank.objects.filter(topic__qid="t1").count() == 1
    # A further file need not name them again.
    assert told(import_file(campaign, "assignments", [line(run_id="r2")], **FILE)) == []


def test_labels_of_nuggets_made_here_are_about_the_edition_that_was_finished(finished, import_file):
    campaign = finished.condition.campaign
    file = [line(run_id="team.one", text="Cats purr to heal. They also purr when content.")]
    done = import_file(campaign, "assignments", file, nuggets="ManualNuggets", **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    there = sheet(campaign, "team.one")
    assert (there.bank, there.edition, said(there)) == (finished, 1, [SUPPORT, PARTIAL, NOT])
    assert NuggetBank.objects.count() == 1


ABOUT = "the nuggets of t1 under ManualNuggets"


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (line(said=nuggets(NOT, NOT, NOT)[:2]), ("nuggets", "no nugget kittens purr", f"all of {ABOUT}")),
        (
            line(said=[nugget("purring heals", "okay"), *nuggets(NOT, NOT, NOT)[1:]]),
            ("nuggets[0].importance", "okay", f"vital, as in {ABOUT}"),
        ),
        (
            line("t2", said=[nugget("a")]),
            ("qid", "t2", "a topic whose nuggets are finished under ManualNuggets"),
        ),
    ],
    ids=["text", "importance", "topic"],
)
def test_peoples_nuggets_are_neither_changed_nor_added_to(finished, import_file, rows, record, error):  # noqa: F811
    campaign, before = finished.condition.campaign, rows()
    refused = import_file(campaign, "assignments", [record], nuggets="ManualNuggets", **FILE)
    assert (told(refused), rows()) == ([(1, *error)], before)


def test_labels_on_nuggets_that_are_not_finished_are_refused(finished, import_file, olga):
    nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
    refused = import_file(
        finished.condition.campaign, "assignments", [line(run_id="team.one")], nuggets="ManualNuggets", **FILE
    )
    assert told(refused) == [(1, "qid", "t1", "a topic whose nuggets are finished under ManualNuggets")]


def test_nuggets_finished_again_during_an_import_take_its_labels_along(finished, import_file, anna, olga, monkeypatch):
    campaign, plain = finished.condition.campaign, AssignmentLoader.write

    def write(self, new, import_record):
        plain(self, new, import_record)
        bank = nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
        do(bank, nugget_actions.reword_nugget, uid=A, text="purring heals bones")
        do(bank, nugget_actions.finish_bank)

    monkeypatch.setattr(AssignmentLoader, "write", write)
    text = "Cats purr to heal. They also purr when content."
    done = import_file(campaign, "assignments", [line(run_id="team.one", text=text)], nuggets="ManualNuggets", **FILE)
    assert done.state == Import.State.DONE
    there, ids = sheet(campaign, "team.one"), {one.uid: str(one.pk) for one in finished.nuggets.all()}
    assert (there.edition, there.to_do) == (2, 1)
    assert (there.labels, there.stale) == ({ids[B]: PARTIAL, ids[C]: NOT}, {ids[A]: SUPPORT})


NAMES = [
    pytest.param({"condition": " "}, ("condition", " ", "a name of 1 to 120 visible characters"), id="blank"),
    pytest.param({"nuggets": "a\tb"}, ("nuggets", "a\\u0009b", "a name of 1 to 120 visible characters"), id="nuggets"),
    pytest.param(
        {"condition": "x" * 115},
        ("nuggets", "x" * 115 + " nugg…", "a name of 1 to 120 visible characters"),
        id="long",
    ),
    pytest.param({"by": "us"}, ("by", "us", "people or model"), id="by"),
    pytest.param(
        {"condition": "ManualNuggets", "nuggets": "N"},
        ("condition", "ManualNuggets, nuggets by ManualNuggets", "a new name, or that of imported assignment"),
        id="a-nugget-condition",
    ),
    pytest.param(
        {"condition": "Manual/Manual"},
        ("condition", "Manual/Manual, assignment by ManualAssign", "a new name, or that of imported assignment"),
        id="peoples",
    ),
    pytest.param(
        {"nuggets": "Manual/Manual"},
        ("nuggets", "Manual/Manual, assignment", "a new name, or that of a nugget condition"),
        id="labels-as-nuggets",
    ),
    pytest.param(
        {"nuggets": "Edits/Manual"},
        ("nuggets", "Edits/Manual", "another name than that of the labels' condition"),
        id="same-name",
    ),
]


@pytest.mark.parametrize(("options", "error"), NAMES)
def test_names_that_conditions_cannot_have(manual, import_file, rows, options, error):  # noqa: F811
    before = rows()
    refused = import_file(manual.campaign, "assignments", [line(run_id="r9")], **FILE | options)
    assert (told(refused), rows()) == ([(0, *error)], before)


def test_a_known_condition_keeps_its_maker_and_its_nuggets(campaign, import_file):
    import_file(campaign, "assignments", [line()], **FILE)
    refused = import_file(campaign, "assignments", [line(run_id="r2")], **FILE | {"by": "model", "nuggets": "Others"})
    assert told(refused) == [
        (0, "by", "model", "people, as Edits/Manual is known already"),
        (0, "nuggets", "Others", "Edits/Manual nuggets, whose nuggets Edits/Manual is about already"),
    ]


def test_the_same_labels_under_two_names_are_two_conditions_on_the_same_nuggets(campaign, import_file):
    import_file(campaign, "assignments", [line()], **FILE)
    options = {"condition": "Edits/Auto", "by": "model", "nuggets": "Edits/Manual nuggets"}
    done = import_file(campaign, "assignments", [line(said=nuggets(NOT, NOT, NOT))], **options)
    assert done.report["counts"] == {"conditions added": 1, "sheets added": 1, "labels added": 3, "lines": 1}
    both = [sheet(campaign), sheet(campaign, name="Edits/Auto")]
    assert [said(one) for one in both] == [[SUPPORT, PARTIAL, NOT], [NOT, NOT, NOT]]
    assert both[0].bank == both[1].bank
    assert both[0].answer == both[1].answer


# Runs and answers


def test_runs_are_found_by_tag_and_alias(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nteam.cats,,,,,cats feline\n")
    file = [line(run_id="cats"), line("t2", "team.cats", [nugget("a")]), line(run_id="r9")]
    done = import_file(campaign, "assignments", file, **FILE)
    assert done.report["counts"]["runs added"] == 1
    assert (sheet(campaign, "team.cats").extras, sheet(campaign, "team.cats", "t2").extras) == ({"run_id": "cats"}, {})
    twice = import_file(campaign, "assignments", [line(run_id="feline"), line(run_id="team.cats")], **FILE)
    assert (2, "run_id", "team.cats on t1", "each once; it stands on line 1 already") in told(twice)


def test_an_ambiguous_name_of_a_run_is_an_error(campaign, import_file, rows):  # noqa: F811
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\none,,,,,\ntwo,,,,,\n")
    RunAlias.objects.create(campaign=campaign, run=Run.objects.get(tag="one"), name="two")  # no import lets this be
    before = rows()
    refused = import_file(campaign, "assignments", [line(run_id="two"), line("t2", "two")], **FILE)
    assert [(number, field, found) for number, field, found, _ in told(refused)] == [
        (1, "run_id", "two"), (2, "run_id", "two")
    ]  # fmt: skip
    assert rows() == before


def test_labels_go_to_the_runs_own_answer_where_the_texts_agree_but_for_blanks(answered, import_file):
    own = Answer.objects.get(run__tag="team.one", topic__qid="t1")
    texts = {
        "team.one": "Cats purr to heal.\n They also  purr when content.",
        "team.two": "Dogs bark.",
        "team.empty": "",
    }
    file = [line("t1", tag, text=text) for tag, text in texts.items()]
    done = import_file(answered, "assignments", file, **FILE)
    assert (warned(done), Answer.objects.count()) == ({}, 5)
    assert (sheet(answered, "team.one").answer, sheet(answered, "team.one").extras) == (
        own, {"answer_text": texts["team.one"]}
    )  # fmt: skip
    assert [sheet(answered, tag).extras for tag in ("team.two", "team.empty")] == [{}, {}]
    assert [sheet(answered, tag).answer.apart for tag in texts] == [False] * 3


def test_labels_of_another_text_than_the_runs_answer_stay_apart_from_it(answered, import_file):
    own = list(Answer.objects.order_by("pk").values())
    text = "Cats purr to heal. They also purr when hungry."
    options = {"condition": "Edits/Auto", "by": "model", "nuggets": "Edits/Manual nuggets"}
    done = import_file(answered, "assignments", [line(run_id="team.one", text=text)], **FILE)
    shown = ("answer_text", "word 9: hungry.", "content., as team.one has it already")
    assert warned(done) == {"answer text differs": [(1, *shown)]}
    there = sheet(answered, "team.one")
    assert (there.answer.apart, there.answer.form, there.answer.text) == (True, "text", text)
    assert list(Answer.objects.exclude(pk=there.answer.pk).order_by("pk").values()) == own
    # The same text in another file is the same answer, and in the same file nothing new.
    other = import_file(answered, "assignments", [line(run_id="team.one", text=text + " ")], **options)
    assert sheet(answered, "team.one", name="Edits/Auto").answer == there.answer
    assert "answers added" not in other.report["counts"]
    again = import_file(answered, "assignments", [line(run_id="team.one", text=text)], **FILE)
    assert again.report["counts"] == {"sheets already there": 1, "lines": 1}


def test_an_answer_that_was_longer_is_shown_from_its_end(answered, import_file):
    done = import_file(answered, "assignments", [line(run_id="team.two", text="Dogs")], **FILE)
    assert warned(done)["answer text differs"] == [
        (1, "answer_text", "word 2: the end", "bark., as team.two has it already")
    ]


def test_an_answer_that_the_run_lacks_is_made(answered, import_file):
    done = import_file(answered, "assignments", [line("t2", "team.empty", [nugget("a")], "Melted.")], **FILE)
    assert (done.report["counts"]["answers added"], warned(done)) == (1, {})
    made = sheet(answered, "team.empty", "t2").answer
    assert (made.apart, made.run.tag, made.text) == (False, "team.empty", "Melted.")


def test_another_campaigns_runs_nuggets_and_conditions_are_its_own(campaign, other_campaign, import_file):  # noqa: F811
    import_file(other_campaign, "topics", "t1\twhy do cats purr\n")
    for one, by in ((other_campaign, "people"), (campaign, "model")):
        assert told(import_file(one, "assignments", [line()], **FILE | {"by": by})) == []
    assert [Run.objects.get(campaign=one).answers.count() for one in (campaign, other_campaign)] == [1, 1]
    assert sheet(campaign).bank.condition.campaign == campaign


# Unfinished imports

MANY = [line("t1", f"r{number:04}") for number in range(1, 1201)]


def after_batch(monkeypatch, count, act):
    """Do something when this many batches are written."""
    plain, written = AssignmentLoader.write, []

    def write(self, new, import_record):
        plain(self, new, import_record)
        written.append(len(new.sheets))
        if len(written) == count:
            act(import_record)

    monkeypatch.setattr(AssignmentLoader, "write", write)
    return written


def test_nothing_is_visible_before_the_end(campaign, import_file, monkeypatch):
    seen = []

    def look(import_record):
        hidden = (AnswerSheet.everything.count(), Answer.everything.count(), Condition.everything.count())
        visible = (AnswerSheet.objects, Answer.objects, Run.objects, NuggetBank.objects, campaign.conditions)
        seen.append((hidden, [one.count() for one in visible], BankEdition.objects.count()))

    written = after_batch(monkeypatch, 2, look)
    done = import_file(campaign, "assignments", MANY, **FILE)
    assert (seen, written) == ([((1000, 1000, 2), [0, 0, 0, 0, 0], 0)], [500, 500, 200])
    assert (done.state, AnswerSheet.objects.count(), Run.objects.count()) == (Import.State.DONE, 1200, 1200)
    # Each sheet has its own answer.
    assert all(sheet.answer.run.tag == f"r{at:04}" for at, sheet in enumerate(
        AnswerSheet.objects.select_related("answer__run").order_by("pk"), start=1
    ))  # fmt: skip


def test_a_stopped_import_leaves_nothing(campaign, import_file, monkeypatch, rows, olga):  # noqa: F811
    before = rows()
    written = after_batch(monkeypatch, 2, lambda record: importer.stop(record, person=olga))
    stopped = import_file(campaign, "assignments", MANY, **FILE)
    assert (stopped.state, stopped.has_leftovers, written) == (Import.State.STOPPED, False, [500, 500])
    assert rows() == before
    assert Judge.objects.filter(kind="imported").count() == 0
    monkeypatch.undo()
    assert import_file(campaign, "assignments", MANY[:1], **FILE | {"by": "model"}).state == Import.State.DONE


def test_sweep_removes_what_a_killed_import_left_and_nothing_else(campaign, import_file, rows):  # noqa: F811
    import_file(campaign, "assignments", [line()], condition="Kept", by="people")
    kept = rows(), everything(campaign)
    file = [line(text="Another text."), line("t2", "r2", [nugget("a")])]
    killed = import_file(campaign, "assignments", file, **FILE)
    BankEdition.objects.filter(bank__import_record=killed)._raw_delete("default")  # they are made with the last step
    Import.objects.filter(pk=killed.pk).update(
        state=Import.State.RUNNING, has_leftovers=True, owner="elsewhere 7 1.0", alive_at=None
    )
    assert rows() != kept[0]
    importer.sweep()
    killed.refresh_from_db()
    assert (killed.state, killed.has_leftovers) == (Import.State.INTERRUPTED, False)
    assert (rows(), everything(campaign)) == kept
    assert sorted(Condition.everything.values_list("name", flat=True)) == ["Kept", "Kept nuggets"]
    assert sorted(Judge.objects.filter(kind="imported").values_list("name", flat=True)) == ["Kept", "Kept nuggets"]


def test_a_check_imports_nothing(campaign, import_file, rows):  # noqa: F811
    before = rows()
    checked = import_file(campaign, "assignments", [line(), line("t2", said=[nugget("a")])], check_only=True, **FILE)
    assert (checked.state, told(checked), rows()) == (Import.State.CHECKED, [], before)


# Commands


def test_the_commands(campaign, tmp_path, capsys):
    path = tmp_path / "assignments.jsonl"
    record = line(said=nuggets(SUPPORT, NOT, "failed"))
    path.write_text(json.dumps(record) + "\n")
    arguments = ("import_assignments", "study", str(path), "--condition=Mia", "--nuggets=Mia's", "--by=model")
    with pytest.raises(CommandError, match=r"assignments.jsonl was not imported \(refused\)"):
        call_command(*arguments)
    call_command(*arguments[:3], "--condition=Strict", "--by=model", "--invalid-labels=not_support")
    assert campaign.conditions.get(name="Strict").counts_invalid_labels
    call_command(*arguments, "--invalid-labels=missing")
    assert "1 warning, assignment missing: line " in capsys.readouterr().out
    assert campaign.conditions.get(name="Mia").nuggets.name == "Mia's"
    out = StringIO()
    call_command("export_assignments", "study", "--condition=Mia", stdout=out)
    assert out.getvalue() == "".join(assignment_lines(campaign.conditions.get(name="Mia")))
    assert json.loads(out.getvalue()) == record
    for lacking in ("--condition=Mia", "--by=people"):
        with pytest.raises(CommandError, match="required"):
            call_command("import_assignments", "study", str(path), lacking)
