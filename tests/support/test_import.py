"""Support judgments that come in from files: what is taken, refused and warned of, and what comes with them."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from assessor.campaigns.models import Answer, Condition, Import, Judge, Run
from assessor.imports import importer
from support.exports import support_lines
from support.loaders import SupportLoader
from support.models import LabelEvent, SupportSheet
from tests.imports.conftest import other_campaign, refuses, rows, told, warned  # noqa: F401
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

LACKING = "a topic of the campaign; load the topics first"
EXPECTED = '"2", "1", "0" or "-1", as text'


def sheet(campaign, tag="r1", qid="t1", name=FILE["condition"]) -> SupportSheet:
    return SupportSheet.objects.get(
        condition__campaign=campaign, condition__name=name, answer__run__tag=tag, answer__topic__qid=qid
    )


def everything(campaign) -> tuple:
    """Return all that labels are, and what they refer to."""
    sheets = SupportSheet.everything.filter(condition__campaign=campaign).order_by("pk")
    return list(sheets.values()), list(Answer.everything.filter(run__campaign=campaign).order_by("pk").values())


def test_labels_make_a_condition_with_runs_answers_and_sheets(campaign, import_file):
    done = import_file(campaign, "support", [usual(), line("t2", "r1", cites("Melted.", d5=FULL))], **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "conditions added": 1, "runs added": 1, "answers added": 2, "sheets added": 2, "labels added": 5,
        "sentences added": 5, "citations added": 5, "lines": 2,
    }  # fmt: skip
    condition = campaign.conditions.get()
    assert (condition.name, condition.kind, condition.method) == ("With the label", "support", "imported")
    assert (condition.judge.name, condition.judge.parameters) == ("With the label", {"by": "people"})
    there = sheet(campaign)
    assert (there.condition, there.judge, there.task) == (condition, condition.judge, None)
    assert there.asked == ["0.0", "0.1", "1.0", "3.0"]
    assert there.labels == {"0.0": "full", "0.1": "partial", "1.0": "none", "3.0": "not judged"}
    assert (there.to_do, there.unresolved, there.invalid, there.extras) == (0, [], {}, {})
    answer = there.answer
    assert (answer.form, answer.apart, answer.words, answer.references) == ("sentences", False, 12, [])
    assert answer.content == [
        {"text": HEALS[0], "citations": ["d1", "d2"]},
        {"text": HEALS[1], "citations": ["d3"]},
        {"text": "Do they?", "citations": []},
        {"text": "Hm.", "citations": ["d9"]},
    ]
    assert answer.text == " ".join((*HEALS, "Do they?", "Hm."))
    assert not LabelEvent.objects.exists()


def test_the_second_form_is_the_same_but_for_further_keys(campaign, import_file):
    import_file(campaign, "support", [spelt_otherwise(usual())], **FILE)
    import_file(campaign, "support", [usual()], condition="First form", by="people")
    second, first = sheet(campaign), sheet(campaign, name="First form")
    assert (second.asked, second.labels, second.answer) == (first.asked, first.labels, first.answer)
    further = {"verification_worthy": True, "citationsCombibed": None}
    assert second.extras == {"sentences": {str(at): further for at in range(4)}}


def test_importing_twice_changes_nothing(campaign, import_file, rows):  # noqa: F811
    file = [usual(), usual(run_id="r2"), line("t2", "r1", cites("a", d1=FULL))]
    import_file(campaign, "support", file, **FILE)
    before = rows(), everything(campaign)
    again = import_file(campaign, "support", file, **FILE)
    assert again.report["counts"] == {"sheets already there": 3, "lines": 3}
    assert (rows(), everything(campaign)) == before


def test_further_files_add_answers(campaign, import_file):
    import_file(campaign, "support", [usual()], **FILE)
    more = import_file(campaign, "support", [usual(), usual(run_id="r2")], **FILE)
    assert more.report["counts"] == {
        "runs added": 1, "answers added": 1, "sheets added": 1, "labels added": 4, "sentences added": 4,
        "citations added": 4, "sheets already there": 1, "lines": 2,
    }  # fmt: skip
    assert (campaign.conditions.count(), SupportSheet.objects.count()) == (1, 2)


def test_an_answer_without_sentences_or_citations_is_a_sheet_that_asks_nothing(campaign, import_file):
    done = import_file(campaign, "support", [line("t1", "r1"), line("t2", "r1", cites("Melted."))], **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert [(one.asked, one.to_do, one.answer.text) for one in SupportSheet.objects.order_by("pk")] == [
        ([], 0, ""), ([], 0, "Melted.")
    ]  # fmt: skip


def of(*citations):
    """Return a line on t2 with one sentence."""
    return line("t2", "r1", sentence("a", *citations))


BAD = [
    pytest.param(line("t9"), "topic_id", "t9", LACKING, id="topic"),
    pytest.param(usual(), "run_id", "r1 on t1", "each once; it stands on line 1 already", id="twice"),
    pytest.param(line("t2", ""), "run_id", "", "an id that is not empty", id="run-empty"),
    pytest.param(line("t2", 7), "run_id", "7", "an id, as text", id="run-number"),
    pytest.param(line("t2") | {"sentences": {}}, "sentences", "{}", "a list of sentences", id="sentences"),
    pytest.param(
        line("t2") | {"sentences": ["a"]}, "sentences[0]", "a", "an object with sentenceID, text and citations", id="s",
    ),
    *(
        pytest.param(
            line("t2") | {"sentences": [without(sentence("a"), key)]}, "sentences[0]", shown,
            "an object with sentenceID, text and citations", id=f"no-{key}",
        )
        for key, shown in [("text", "keys sentenceID, citations"), ("citations", "keys sentenceID, text")]
    ),
    pytest.param(
        line("t2") | {"sentences": [without(sentence("a"), "sentenceID")]}, "sentences[0]", "keys text, citations",
        "either sentenceID or sentenceId", id="no-number",
    ),
    pytest.param(
        line("t2") | {"sentences": [sentence("a", sentenceId=0)]},
        "sentences[0]", "keys sentenceID, text, citations, sentenceId", "either sentenceID or sentenceId", id="both",
    ),
    *(
        pytest.param(
            line("t2") | {"sentences": [sentence("a", number=number)]}, "sentences[0].sentenceID", shown,
            "an id, as text", id=f"number-{shown}",
        )
        for number, shown in [(None, "None"), (True, "True"), (1.5, "1.5"), ([], "[]")]
    ),
    *(
        pytest.param(line("t2", "r1", sentence(text)), "sentences[0].text", shown, "text", id=f"text-{shown}")
        for text, shown in [(None, "None"), (1, "1"), (["a"], "['a']")]
    ),
    pytest.param(
        line("t2", "r1", sentence("a") | {"citations": {}}), "sentences[0].citations", "{}", "a list of citations",
        id="citations",
    ),
    pytest.param(
        of("d1"), "sentences[0].citations[0]", "d1", "an object with citationID, reference", id="citation",
    ),
    pytest.param(
        of(without(citation(), "reference")), "sentences[0].citations[0]", "keys citationID, support",
        "an object with citationID, reference", id="no-reference",
    ),
    pytest.param(
        of(without(citation(), "citationID")), "sentences[0].citations[0]", "keys reference, support",
        "either citationID or citationId", id="no-citation-number",
    ),
    pytest.param(
        of(citation("")), "sentences[0].citations[0].reference", "", "an id that is not empty", id="reference-empty",
    ),
    pytest.param(
        of(citation(3)), "sentences[0].citations[0].reference", "3", "an id, as text", id="reference-number",
    ),
    *(
        pytest.param(
            of(citation("d1"), citation("d2", found, 1)), "sentences[0].citations[1].support", shown, EXPECTED,
            id=f"label-{shown}",
        )
        for found, shown in [
            ("3", "3"), ("", ""), ("full", "full"), (" 2", " 2"), (2, "2"), (None, "None"), (True, "True"),
            (["2"], "['2']"), ({}, "{}"), ("2.0", "2.0"), ("-2", "-2"),
        ]
    ),
    pytest.param(
        of(without(citation(note=1), "support")), "sentences[0].citations[0].support", "keys reference, note", EXPECTED,
        id="no-label",
    ),
    pytest.param(
        of(citation("d1", FULL), citation("d2", FULL), citation("d1", NONE)), "sentences[0].citations[2].support", "0",
        "2, as sentences[0].citations[0] has it for the same passage", id="two-labels-of-a-pair",
    ),
    *(
        pytest.param(bad, "", "NaN", "numbers that are finite; NaN only as a sentence's text", id=f"nan-{at}")
        for at, bad in enumerate(
            [
                line("t2", note=NAN), line("t2", "r1", sentence("a", note=[{"b": NAN}])),
                of(citation("d1", FULL, 0, note=NAN)),
            ]
        )
    ),
    *(
        pytest.param(
            without(line("t2"), key), key, "keys " + ", ".join(without(line("t2"), key)), f"the key {key}",
            id=f"no-{key}",
        )
        for key in ("topic_id", "run_id", "sentences")
    ),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "field", "found", "expected"), BAD)
def test_bad_lines(campaign, refuses, bad, field, found, expected):  # noqa: F811
    refuses(campaign, "support", [json.dumps(usual())], json.dumps(bad), (field, found, expected), **FILE)


@pytest.mark.parametrize(
    ("found", "error"),
    [
        ('"sentenceID": 0, "text": Infinity', ("", "Infinity", "numbers that are finite")),
        ('"sentenceID": NaN, "text": NaN', ("sentences[0].sentenceID", "nan", "an id, as text")),
        (
            '"sentenceID": 0, "text": NaN, "text": ""',
            ("text", "the key twice in one object", "each key once"),
        ),
        (
            '"sentenceID": 0, "text": "\\u0000"',
            ("", "\\u0000 or half a surrogate pair", "text of whole characters"),
        ),
    ],
)
def test_broken_json(campaign, import_file, found, error):
    text = f'{{"topic_id": "t1", "run_id": "r", "sentences": [{{{found}, "citations": []}}]}}\n'
    assert told(import_file(campaign, "support", text, **FILE)) == [(1, *error)]


def test_nan_is_a_sentence_without_text_and_nothing_else(campaign, import_file):
    file = [line("t1", "r1", cites("Cats purr."), sentence(NAN, citation()), cites("NaN"))]
    done = import_file(campaign, "support", file, **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert warned(done) == {"sentence without text": [(1, "sentences[1].text", "NaN", "text")]}
    there = sheet(campaign)
    assert [one.text for one in there.answer.sentences()] == ["Cats purr.", "", "NaN"]
    assert there.answer.words == 3
    assert (there.labels, there.extras) == ({"1.0": "full"}, {"sentences": {"1": {"text": None}}})


def test_what_is_no_label_becomes_missing_where_asked_and_never_none(campaign, import_file):
    found = ["3", "", None, 2, ["2"], "none"]
    bad = [citation(f"d{at}", label, at) for at, label in enumerate(found)]
    bad += [without(citation("d8", number=6), "support"), citation("d9", NONE, 7)]
    done = import_file(campaign, "support", [line("t1", "r1", sentence("a", *bad))], invalid_labels="missing", **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert (done.report["counts"]["support judgments missing"], done.report["counts"]["labels added"]) == (7, 1)
    assert warned(done) == {
        "support missing": [
            (1, f"sentences[0].citations[{at}].support", shown, EXPECTED)
            for at, shown in enumerate(["3", "", "None", "2", "['2']", "none", "keys reference"])
        ]
    }
    there = sheet(campaign)
    assert there.labels == {"0.7": "none"}
    assert there.invalid == {f"0.{at}": label for at, label in enumerate(found)}
    assert (len(there.asked), there.to_do) == (8, 7)


def test_a_passage_that_a_sentence_cites_twice_with_one_label_is_kept_once(campaign, import_file):
    twice = sentence("a", citation("d1", PARTIAL, 0), citation("d1", PARTIAL, 1), citation("d2", FULL, 2))
    done = import_file(campaign, "support", [line("t1", "r1", twice, cites("b", d1=NONE))], **FILE)
    expected = "each once in a sentence; sentences[0].citations[0] has it with the same label"
    assert warned(done) == {"passage cited twice": [(1, "sentences[0].citations[1].reference", "d1", expected)]}
    there = sheet(campaign)
    assert there.labels == {"0.0": "partial", "0.1": "full", "1.0": "none"}
    assert there.extras == {"sentences": {"0": {"citations": {"1": {"citationID": 2}}}}}


def test_numbers_that_are_no_places_and_further_keys_are_kept(campaign, import_file):
    odd = {
        "topic_id": "t1",
        "run_id": "r1",
        "sentences": [
            {"sentenceID": 4, "text": "a", "citations": [citation("d1", FULL, 5), citation("d2", FULL, 1, why="w")]},
            {"sentenceID": "b", "text": "b", "citations": [citation("d1", FULL, "x")], "note": 1},
        ],
        "citations": {"0": 1},
    }
    import_file(campaign, "support", [odd], **FILE)
    assert sheet(campaign).extras == {
        "citations": {"0": 1},
        "sentences": {
            "0": {"sentenceID": 4, "citations": {"0": {"citationID": 5}, "1": {"why": "w"}}},
            "1": {"sentenceID": "b", "note": 1, "citations": {"0": {"citationID": "x"}}},
        },
    }


AS = "as With the label has r1 on t1 already"


@pytest.mark.parametrize(
    ("other", "error"),
    [
        pytest.param(
            line("t1", "r1", cites("a", d1=NONE, d2=FULL)), ("sentences[0].citations", "none of d1", f"full, {AS}"),
            id="label",
        ),
        pytest.param(
            line("t1", "r1", cites("a", d1=FULL)), ("sentences[0].citations", "no such citation of d2", f"full, {AS}"),
            id="fewer",
        ),
        pytest.param(
            line("t1", "r1", cites("a", d1=FULL, d2=FULL, d3=FULL)),
            ("sentences[0].citations", "full of d3", f"no such citation, {AS}"), id="more",
        ),
        pytest.param(
            line("t1", "r1", cites("b", d1=FULL, d2=FULL)),
            ("sentences", "b", f"the same sentences and citations {AS}"), id="text",
        ),
        pytest.param(
            line("t1", "r1", cites("a", d1=FULL, d2=FULL), note=1),
            ("", "another line", f"the same line {AS}"), id="key",
        ),
        pytest.param(
            line("t1", "r1", cites("a ", d1=FULL, d2=FULL)), ("", "another line", f"the same line {AS}"), id="blanks",
        ),
    ],
)  # fmt: skip
def test_another_line_than_the_loaded_one_is_refused(campaign, import_file, rows, other, error):  # noqa: F811
    import_file(campaign, "support", [line("t1", "r1", cites("a", d1=FULL, d2=FULL))], **FILE)
    before = rows(), everything(campaign)
    refused = import_file(campaign, "support", [usual(run_id="r2"), other], **FILE)
    assert (refused.state, told(refused)) == (Import.State.REFUSED, [(2, *error)])
    assert (rows(), everything(campaign)) == before


def test_a_label_where_none_was_is_another_line(campaign, import_file):
    lacking = line("t1", "r1", sentence("a", without(citation(), "support")))
    import_file(campaign, "support", [lacking], invalid_labels="missing", **FILE)
    refused = import_file(campaign, "support", [line("t1", "r1", cites("a", d1=NOT_JUDGED))], **FILE)
    assert told(refused) == [(1, "sentences[0].citations", "not judged of d1", f"no label, {AS}")]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"condition": " "}, ("condition", " ", "a name of 1 to 120 visible characters")),
        ({"by": "us"}, ("by", "us", "people or model")),
        ({"condition": "ManualNuggets"},
         ("condition", "ManualNuggets, nuggets by ManualNuggets", "a new name, or that of imported support")),
    ],
)  # fmt: skip
def test_names_that_conditions_cannot_have(condition, import_file, rows, options, error):  # noqa: F811
    before = rows()
    refused = import_file(condition.campaign, "support", [usual()], **FILE | options)
    assert (told(refused), rows()) == ([(0, *error)], before)


def test_runs_are_found_by_tag_and_alias(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nteam.cats,,,,,cats feline\n")
    file = [usual(run_id="cats"), line("t2", "team.cats", cites("a")), usual(run_id="r9")]
    done = import_file(campaign, "support", file, **FILE)
    assert done.report["counts"]["runs added"] == 1
    assert (sheet(campaign, "team.cats").extras, sheet(campaign, "team.cats", "t2").extras) == ({"run_id": "cats"}, {})
    twice = import_file(campaign, "support", [usual(run_id="feline"), usual(run_id="team.cats")], **FILE)
    assert (2, "run_id", "team.cats on t1", "each once; it stands on line 1 already") in told(twice)


def test_another_campaigns_runs_and_conditions_are_its_own(campaign, other_campaign, import_file):  # noqa: F811
    import_file(other_campaign, "topics", "t1\twhy do cats purr\n")
    for one, by in ((other_campaign, "people"), (campaign, "model")):
        assert told(import_file(one, "support", [usual()], **FILE | {"by": by})) == []
    assert [Run.objects.get(campaign=one).answers.count() for one in (campaign, other_campaign)] == [1, 1]


# Unfinished imports

MANY = [usual(run_id=f"r{number:04}") for number in range(1, 1201)]


def after_batch(monkeypatch, count, act):
    """Do something when this many batches are written."""
    plain, written = SupportLoader.write, []

    def write(self, new, import_record):
        plain(self, new, import_record)
        written.append(len(new))
        if len(written) == count:
            act(import_record)

    monkeypatch.setattr(SupportLoader, "write", write)
    return written


def test_nothing_is_visible_before_the_end(campaign, import_file, monkeypatch):
    seen = []

    def look(import_record):
        hidden = (SupportSheet.everything.count(), Answer.everything.count(), Condition.everything.count())
        visible = (SupportSheet.objects, Answer.objects, Run.objects, campaign.conditions)
        seen.append((hidden, [one.count() for one in visible]))

    written = after_batch(monkeypatch, 2, look)
    done = import_file(campaign, "support", MANY, **FILE)
    assert (len(seen), seen[0][1], sum(written)) == (1, [0, 0, 0, 0], 1200)
    assert seen[0][0] == (sum(written[:2]), sum(written[:2]), 1)
    assert (done.state, SupportSheet.objects.count(), Run.objects.count()) == (Import.State.DONE, 1200, 1200)
    # Each sheet has its own answer.
    assert all(one.answer.run.tag == f"r{at:04}" for at, one in enumerate(
        SupportSheet.objects.select_related("answer__run").order_by("pk"), start=1
    ))  # fmt: skip


def test_a_stopped_import_leaves_nothing(campaign, import_file, monkeypatch, rows, olga):  # noqa: F811
    before = rows()
    after_batch(monkeypatch, 2, lambda record: importer.stop(record, person=olga))
    stopped = import_file(campaign, "support", MANY, **FILE)
    assert (stopped.state, stopped.has_leftovers) == (Import.State.STOPPED, False)
    assert rows() == before
    assert Judge.objects.filter(kind="imported").count() == 0
    monkeypatch.undo()
    assert import_file(campaign, "support", MANY[:1], **FILE | {"by": "model"}).state == Import.State.DONE


def test_sweep_removes_what_a_killed_import_left_and_nothing_else(campaign, import_file, rows):  # noqa: F811
    import_file(campaign, "support", [usual()], condition="Kept", by="people")
    kept = rows(), everything(campaign)
    killed = import_file(campaign, "support", [line("t1", "r1", cites("Else.")), usual("t2", "r2")], **FILE)
    Import.objects.filter(pk=killed.pk).update(
        state=Import.State.RUNNING, has_leftovers=True, owner="elsewhere 7 1.0", alive_at=None
    )
    assert rows() != kept[0]
    importer.sweep()
    killed.refresh_from_db()
    assert (killed.state, killed.has_leftovers) == (Import.State.INTERRUPTED, False)
    assert (rows(), everything(campaign)) == kept
    assert [one.name for one in Condition.everything.all()] == ["Kept"]
    assert [one.name for one in Judge.objects.filter(kind="imported")] == ["Kept"]


def test_a_check_imports_nothing(campaign, import_file, rows):  # noqa: F811
    before = rows()
    checked = import_file(campaign, "support", [usual()], check_only=True, **FILE)
    assert (checked.state, told(checked), rows()) == (Import.State.CHECKED, [], before)


# Commands


def test_the_commands(campaign, tmp_path, capsys):
    path = tmp_path / "support.jsonl"
    record = line("t1", "r1", cites("a", d1=FULL, d2="failed"))
    path.write_text(json.dumps(record) + "\n")
    arguments = ("import_support", "study", str(path), "--condition=Mia", "--by=model")
    with pytest.raises(CommandError, match=r"support.jsonl was not imported \(refused\)"):
        call_command(*arguments)
    remedy = (
        "Import it with --invalid-labels missing, or with “Grades, importances and labels that are none” on the page."
    )
    assert [one["remedy"] for one in Import.objects.latest("pk").report["errors"]] == [remedy]
    call_command(*arguments, "--invalid-labels=missing")
    assert "1 warning, support missing: line " in capsys.readouterr().out
    out = StringIO()
    call_command("export_support", "study", "--condition=Mia", stdout=out)
    assert out.getvalue() == "".join(support_lines(campaign.conditions.get(name="Mia")))
    assert json.loads(out.getvalue()) == record
    out = StringIO()
    call_command("export_support", "study", "--condition=Mia", "--topics", "t2", stdout=out)
    assert out.getvalue() == ""
    with pytest.raises(CommandError, match=r"There is no support condition Mio\. There are: Mia\."):
        call_command("export_support", "study", "--condition=Mio")
    for lacking in ("--condition=Mia", "--by=people"):
        with pytest.raises(CommandError, match="required"):
            call_command("import_support", "study", str(path), lacking)
