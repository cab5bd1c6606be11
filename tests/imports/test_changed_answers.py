"""Answers that come from two files: their text with labels, their sentences and citations with a run."""

import json

import pytest

from assessor.campaigns.exports import run_lines
from assessor.campaigns.models import Answer, Event, Import
from assessor.desk import queries
from assessor.desk.completeness import gaps
from assessor.imports import importer
from assessor.imports.loaders.runs import RunLoader
from assessor.llm import prompt_sets
from assessor.llm.preview import preview
from assessor.llm.prompts import PreviewError, PreviewSubject
from assignment.actions.changed_answers import split_marks
from assignment.exports import assignment_lines
from tests.assignment.lines import FILE, line, nugget
from tests.conftest import client_of
from tests.imports.conftest import rows, told, warned  # noqa: F401
from tests.judging import again, asked, history, judged, put, snapshot

TEXT = "Cats purr to heal. They also purr when content."


def run(text: str = TEXT, qid: str = "t1", run_id: str = "r1", **more) -> dict:
    """Return a line of a run: the text split after its full stops, each sentence cites d1."""
    sentences = [f"{sentence}." for sentence in text.removesuffix(".").split(". ")] if text else []
    return {
        "run_id": run_id,
        "topic_id": qid,
        "topic": "why",
        "references": ["d1"],
        "response_length": len(text.split()),
        "answer": [{"text": sentence, "citations": [0]} for sentence in sentences],
    } | more


def labels(*texts: str, run_id: str = "r1") -> list[dict]:
    """Return lines of labels of answers to t1 and t2."""
    given = zip(("t1", "t2"), texts, strict=False)
    return [line(qid, run_id, [nugget("a"), nugget("b", "okay")], text) for qid, text in given]


def condition_of(campaign, name: str = FILE["condition"]):
    return campaign.conditions.get(name=name)


def exported(campaign, name: str = FILE["condition"]) -> list[str]:
    return list(assignment_lines(condition_of(campaign, name)))


@pytest.fixture
def labelled(campaign, import_file):
    """Labels of two answers of r1, of which nothing but the texts is known."""
    assert told(import_file(campaign, "assignments", labels(TEXT, "Glass is melted."), **FILE)) == []
    return campaign


def test_a_text_gets_its_sentences_and_keeps_its_labels(labelled, import_file, olga):
    before, sheets = exported(labelled), snapshot(condition_of(labelled))
    text = Answer.objects.get(topic__qid="t1")
    records = [run(note=1), run("Glass is melted.", "t2")]
    done = import_file(labelled, "runs", records)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "answers joined": 2, "sentences added": 3, "citations added": 3, "lines": 2
    }  # fmt: skip
    answer = Answer.objects.get(topic__qid="t1")
    assert (answer.pk, answer.form, answer.apart, answer.words) == (text.pk, "rag24", False, 9)
    assert (answer.content, answer.references) == (records[0]["answer"], ["d1"])
    assert answer.extras == {"topic": "why", "response_length": 9, "note": 1}
    event = Event.objects.get(verb="answers joined")
    assert (event.subject, event.details) == ("r1", {"topics": ["t1", "t2"]})
    # The labels stand, on the same answers, and their file goes out as it came.
    assert snapshot(condition_of(labelled)) == sheets
    assert exported(labelled) == before
    assert [json.loads(text) for text in run_lines(labelled.runs.get())] == records


def test_the_same_files_once_more_change_nothing(labelled, import_file):
    records = [run(), run("Another answer.", "t2")]
    import_file(labelled, "runs", records)
    before = list(Answer.objects.order_by("pk").values()), Event.objects.exclude(verb="imported").count()
    again = import_file(labelled, "runs", records)
    assert again.report["counts"] == {"answers already there": 2, "lines": 2}
    labels_again = import_file(labelled, "assignments", labels(TEXT, "Glass is melted."), **FILE)
    assert labels_again.report["counts"] == {"sheets already there": 2, "lines": 2}
    assert (list(Answer.objects.order_by("pk").values()), Event.objects.exclude(verb="imported").count()) == before
    other = import_file(labelled, "runs", [run(note=2)])
    assert told(other) == [(1, "answer", "another answer", "the answer of r1 to t1 as it is loaded already")]


def test_a_text_with_other_blanks_goes_out_as_it_came(campaign, import_file):
    file = labels("Cats  purr to heal.\nThey also purr when content.", " ")
    import_file(campaign, "assignments", file, **FILE)
    before = exported(campaign)
    done = import_file(campaign, "runs", [run(), run("", "t2")])
    assert (done.report["counts"]["answers joined"], warned(done).keys()) == (2, {"answer without sentences"})
    assert [answer.text for answer in Answer.objects.order_by("topic__qid")] == [TEXT, ""]
    assert exported(campaign) == before
    assert [json.loads(text)["answer_text"] for text in before] == [one["answer_text"] for one in file]
    again = import_file(campaign, "assignments", file, **FILE)
    assert (told(again), again.report["counts"]["sheets already there"]) == ([], 2)


def test_a_text_that_came_with_other_blanks_in_a_second_file_stays_as_well(campaign, import_file):
    """Of two texts of one answer the run has the second one's blanks: each file goes out as it came."""
    other = {"condition": "Edits/Auto", "by": "model", "nuggets": "Edits/Manual nuggets"}
    import_file(campaign, "assignments", labels(TEXT.replace(" ", "  ")), **FILE)
    import_file(campaign, "assignments", labels(TEXT), **other)
    before = [exported(campaign, name) for name in ("Edits/Manual", "Edits/Auto")]
    import_file(campaign, "runs", [run()])
    assert [exported(campaign, name) for name in ("Edits/Manual", "Edits/Auto")] == before
    for text, options in ((TEXT.replace(" ", "  "), FILE), (TEXT, other)):
        again = import_file(campaign, "assignments", labels(text), **options)
        assert (told(again), again.report["counts"]["sheets already there"]) == ([], 1)


def test_a_text_that_the_run_did_not_answer_is_kept_apart_with_its_labels(labelled, import_file):
    before = exported(labelled)
    text = Answer.objects.get(topic__qid="t1")
    done = import_file(labelled, "runs", [run("Cats purr to sleep."), run("Glass is melted.", "t2")])
    shown = ("answer", "word 4: sleep.", "heal. They also purr when content., as r1 has it already")
    assert warned(done) == {"answer text differs": [(1, *shown)]}
    assert done.report["counts"] == {
        "answers added": 1, "sentences added": 2, "citations added": 2, "answers joined": 1, "texts kept apart": 1,
        "lines": 2,
    }  # fmt: skip
    own = Answer.objects.get(topic__qid="t1", apart=False)
    assert (own.text, own.form, own.import_record_id) == ("Cats purr to sleep.", "rag24", done.pk)
    text.refresh_from_db()
    assert (text.apart, text.form, text.text) == (True, "text", TEXT)
    assert judged(condition_of(labelled), qid="t1").answer == text
    assert exported(labelled) == before
    event = Event.objects.get(verb="texts kept apart")
    assert (event.subject, event.details) == ("r1", {"topics": ["t1"]})


def test_of_several_texts_that_one_is_joined_which_the_run_answered(campaign, import_file):
    other = {"condition": "Edits/Auto", "by": "model", "nuggets": "Edits/Manual nuggets"}
    import_file(campaign, "assignments", labels("Cats sleep."), **FILE)
    import_file(campaign, "assignments", labels(TEXT), **other)
    first, second = Answer.objects.order_by("pk")
    assert (first.apart, second.apart) == (False, True)
    done = import_file(campaign, "runs", [run()])
    assert (done.report["counts"]["answers joined"], done.report["counts"]["texts kept apart"]) == (1, 1)
    for one in (first, second):
        one.refresh_from_db()
    assert (first.apart, first.form, first.text) == (True, "text", "Cats sleep.")
    assert (second.apart, second.form, second.text) == (False, "rag24", TEXT)


@pytest.mark.parametrize(
    ("form", "record"),
    [
        (
            "rag25",
            {
                "metadata": {"team_id": "t", "run_id": "r1", "type": "automatic", "narrative_id": "t1"},
                "references": ["d1"],
                "answer": [{"text": TEXT, "citations": ["d1"]}],
            },
        ),
        (
            "ragtime",
            {
                "metadata": {"team_id": "t", "run_id": "r1", "topic_id": "t1"},
                "responses": [{"text": TEXT, "citations": {"d1": 0.5}}],
            },
        ),
    ],
)
def test_a_text_is_joined_in_every_form(labelled, import_file, form, record):
    done = import_file(labelled, "runs", [record])
    assert done.report["counts"]["answers joined"] == 1
    assert Answer.objects.get(topic__qid="t1").form == form
    assert [json.loads(text) for text in run_lines(labelled.runs.get())] == [record]


MANY = [f"m{number}" for number in range(600)]


@pytest.fixture
def many(campaign, import_file):
    """Texts of r1 to 600 topics, every other of them not what the run file has."""
    import_file(campaign, "topics", "".join(f"{qid}\ttitle\n" for qid in MANY))
    file = [line(qid, "r1", [nugget("a")], TEXT if at % 2 else "Else.", query="title") for at, qid in enumerate(MANY)]
    import_file(campaign, "assignments", file, **FILE)
    return campaign


def test_nothing_is_changed_before_the_end(many, import_file, monkeypatch, rows, olga):  # noqa: F811
    before, counted = list(Answer.everything.order_by("pk").values()), rows()
    plain, seen = RunLoader.write, []

    def write(self, new, import_record):
        plain(self, new, import_record)
        seen.append(list(Answer.objects.order_by("pk").values()) == before)
        if len(seen) == 2:
            importer.stop(import_record, person=olga)

    monkeypatch.setattr(RunLoader, "write", write)
    stopped = import_file(many, "runs", [run(qid=qid) for qid in MANY])
    assert (stopped.state, seen) == (Import.State.STOPPED, [True, True])
    assert (list(Answer.everything.order_by("pk").values()), rows()) == (before, counted)
    assert not Event.objects.filter(verb__in=("answers joined", "texts kept apart")).exists()
    monkeypatch.undo()
    done = import_file(many, "runs", [run(qid=qid) for qid in MANY])
    assert done.report["counts"] == {
        "answers added": 300, "answers joined": 300, "texts kept apart": 300, "sentences added": 1200,
        "citations added": 1200, "lines": 600,
    }  # fmt: skip
    assert Answer.objects.filter(apart=False, form="rag24").count() == 600
    assert Answer.objects.filter(apart=True, form="text").count() == 300


def test_a_check_joins_nothing(labelled, import_file):
    before = list(Answer.everything.order_by("pk").values())
    checked = import_file(
        labelled, "runs", [run("Cats purr to sleep."), run("Glass is melted.", "t2")], check_only=True
    )
    assert (checked.state, list(warned(checked))) == (Import.State.CHECKED, ["answer text differs"])
    assert list(Answer.everything.order_by("pk").values()) == before


# What else reads answers


def test_texts_alone_and_texts_apart_are_in_no_export_and_no_count_of_runs(labelled, import_file, olga):
    r1, page = labelled.runs.get(), client_of(olga)
    assert list(run_lines(r1)) == []
    html = page.get("/campaigns/study/exports/").content.decode()
    assert "2 answers that came only with labels are left out" in html
    import_file(labelled, "runs", [run("Cats purr to sleep.")])
    assert [json.loads(text)["topic_id"] for text in run_lines(r1)] == ["t1"]
    html = page.get("/campaigns/study/exports/").content.decode()
    assert "1 answer that came only with labels is left out" in html
    assert queries.loaded(labelled)["answers"] == 2
    assert gaps(labelled)[-1].name != "runs"
    import_file(labelled, "topics", "t3\tthird\n")
    assert ("runs", "run did not answer every topic", 1, ["r1 (1)"]) in gaps(labelled)
    # What is asked of a model is what the run answered.
    choice = PreviewSubject(topic="t1", condition="Edits/Manual nuggets", run="r1")
    prompts = prompt_sets.prompt_set(prompt_sets.names()[0])
    question = preview(labelled, "assignment", prompts, choice).request
    assert "Cats purr to sleep." in str(question.messages)
    with pytest.raises(PreviewError, match=r"Sentence 1 cites nothing"):
        preview(labelled, "support", prompts, choice._replace(topic="t2"))


def test_an_empty_text_apart_is_no_gap(campaign, import_file):
    import_file(campaign, "runs", [run(), run("Melted.", "t2")])
    import_file(campaign, "assignments", labels(""), **FILE)
    assert Answer.objects.filter(words=0, apart=True).count() == 1
    assert "empty answers" not in [gap.what for gap in gaps(campaign)]


# Words that a person marked


def test_marked_words_stay_marked(labelled, import_file):
    sheet = judged(condition_of(labelled), qid="t1")
    nuggets = [str(one) for one in asked(sheet)]
    start = TEXT.index("heal")
    put([sheet], marks={nuggets[0]: [[0, start, start + 4]], nuggets[1]: [[0, start, TEXT.index("also") + 4]]})
    import_file(labelled, "runs", [run()])
    sheet = again(sheet)
    assert sheet.marks == {nuggets[0]: [[0, 13, 17]], nuggets[1]: [[0, 13, 18], [1, 0, 9]]}
    sentences = [sentence.text for sentence in sheet.answer.sentences()]
    assert [sentences[at][start:end] for at, start, end in sheet.marks[nuggets[1]]] == ["heal.", "They also"]
    assert (sheet.version, history(sheet).get().verb) == (1, "sentences known")


@pytest.mark.parametrize(
    ("before", "sentences", "mark", "expected"),
    [
        (["a b. c"], ["a b.", "c"], [0, 0, 6], [[0, 0, 4], [1, 0, 1]]),
        (["  a\n b. c"], ["a   b.", " ", "c"], [0, 3, 9], [[0, 4, 6], [2, 0, 1]]),
        (["a b"], ["a b"], [0, 1, 2], []),
        (["a  b.", " ", "c  d"], ["a b.", "", "c d"], [2, 0, 4], [[2, 0, 3]]),
    ],
)
def test_marks_of_one_spelling_are_marks_of_the_other(before, sentences, mark, expected):
    assert split_marks([mark], before, sentences) == expected
