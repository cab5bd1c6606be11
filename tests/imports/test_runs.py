"""Runs in the form of the TREC 2024 RAG track."""

import json

import pytest

from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Answer, Import, Run, RunAlias
from tests.imports.conftest import told, warned

LACKING = "a topic of the campaign; load the topics first"
SHAPES = "run_id, topic_id, references, answer; metadata, references, answer; or metadata, responses"


def sentence(text="Cats purr when content.", citations=(0,), **more):
    return {"text": text, "citations": list(citations)} | more


def answer(qid="t1", run_id="r1", references=("d1", "d2"), sentences=None, **more):
    return {
        "run_id": run_id,
        "topic_id": qid,
        "topic": "why",
        "references": list(references),
        "response_length": 4,
        "answer": [sentence()] if sentences is None else sentences,
    } | more


def dropped(record, key):
    return {name: value for name, value in record.items() if name != key}


GOOD = [json.dumps(answer())]


def test_a_run(campaign, import_file):
    first = answer(sentences=[sentence("Cats purr  when\ncontent.", [1, 0]), sentence("Why?", [])], response_length=5)
    second = answer("t2", references=["d5"], note={"seed": 7}, prompt="p")
    done = import_file(campaign, "runs", [first, second])
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "runs added": 1, "answers added": 2, "sentences added": 3, "citations added": 3, "lines": 2
    }  # fmt: skip
    run = campaign.runs.get()
    assert (run.tag, run.team, run.task, run.type, run.priority) == ("r1", "", "", "", None)
    one, two = run.answers.order_by("topic__qid")
    assert (one.topic.qid, one.references, one.words) == ("t1", ["d1", "d2"], 5)
    assert one.content == first["answer"]
    assert one.extras == {"topic": "why", "response_length": 5}
    assert two.extras == {"topic": "why", "response_length": 4, "note": {"seed": 7}, "prompt": "p"}
    assert [(s.position, s.text, s.citations) for s in one.sentences()] == [
        (0, "Cats purr  when\ncontent.", ((0, "d2"), (1, "d1"))),
        (1, "Why?", ()),
    ]


@pytest.mark.parametrize("key", ["run_id", "topic_id", "references", "answer"])
def test_each_key_is_required(campaign, refuses, key):
    record = dropped(answer("t2"), key)
    refuses(campaign, "runs", GOOD, json.dumps(record), (key, "keys " + ", ".join(record), f"the key {key}"))


TWO = ["d1", "d2"]
NONE = "none: references is empty"
BAD = [
    pytest.param(answer("t9"), "topic_id", "t9", LACKING, id="unknown-topic"),
    pytest.param(answer("t1"), "topic_id", "t1", "each once; it stands on line 1 already", id="topic-twice"),
    pytest.param(answer("t2", "r2"), "run_id", "r2", "one run a file: r1, as in the lines before", id="two-runs"),
    pytest.param(answer("t2", 5), "run_id", "5", "an id, as text", id="run-number"),
    pytest.param(answer("t2", ""), "run_id", "", "an id that is not empty", id="run-empty"),
    pytest.param(
        answer("t2", "r\u202e1"), "run_id", "r\\u202e1", "an id without control or invisible characters", id="run-bidi"
    ),
    pytest.param(answer(2024), "topic_id", "2024", LACKING, id="topic-number"),
    pytest.param(answer(20.5), "topic_id", "20.5", "an id, as text", id="topic-fraction"),
    pytest.param(answer(True), "topic_id", "True", "an id, as text", id="topic-true"),
    pytest.param(answer("t2", references=["d1", "d1"]), "references[1]", "d1", "each docid once", id="reference-twice"),
    pytest.param(
        answer("t2", references=["d1", "d2"]) | {"references": ["d1", " d1"]},
        "references[1]",
        "d1",
        "each docid once",
        id="reference-twice-but-for-a-blank",
    ),
    pytest.param(answer("t2", references=["d1", 2]), "references[1]", "2", "an id, as text", id="reference-number"),
    pytest.param(answer("t2") | {"references": "d1"}, "references", "d1", "a list of docids", id="references-text"),
    pytest.param(
        answer("t2") | {"references": {"a": 1}}, "references", "{'a': 1}", "a list of docids", id="references-object"
    ),
    pytest.param(answer("t2") | {"answer": "Cats."}, "answer", "Cats.", "a list of sentences", id="answer-text"),
    pytest.param(answer("t2") | {"answer": None}, "answer", "None", "a list of sentences", id="answer-null"),
    pytest.param(
        answer("t2", sentences=["Cats."]), "answer[0]", "Cats.", "an object with text and citations", id="sentence-text"
    ),
    pytest.param(
        answer("t2", sentences=[sentence(), {"text": "a"}]),
        "answer[1]",
        "{'text': 'a'}",
        "an object with text and citations",
        id="sentence-without-citations",
    ),
    pytest.param(
        answer("t2", sentences=[{"citations": []}]),
        "answer[0]",
        "{'citations': []}",
        "an object with text and citations",
        id="sentence-without-text",
    ),
    pytest.param(answer("t2", sentences=[sentence(None)]), "answer[0].text", "None", "text", id="sentence-null"),
    pytest.param(
        answer("t2", sentences=[sentence() | {"citations": 0}]),
        "answer[0].citations",
        "0",
        "a list of positions in references",
        id="citations-number",
    ),
    pytest.param(
        answer("t2", sentences=[sentence() | {"citations": {"d1": 0.5}}]),
        "answer[0].citations",
        "{'d1': 0.5}",
        "a list of positions in references",
        id="citations-object",
    ),
    *(
        pytest.param(
            answer("t2", sentences=[sentence(), sentence(citations=[0, position])]),
            "answer[1].citations",
            found,
            "a position in references, 0 to 1",
            id=f"citation-{found}",
        )
        for position, found in [
            (-1, "-1"), (2, "2"), (10**30, "1" + "0" * 30), (True, "True"), (False, "False"), ("0", "0"), (0.0, "0.0"),
            (None, "None"), ("d1", "d1"), ([0], "[0]"),
        ]
    ),
    pytest.param(
        answer("t2", references=[], sentences=[sentence()]), "answer[0].citations", "0", NONE, id="citation-of-nothing"
    ),
    pytest.param({"qid": "t2", "answer_text": "a"}, "", "keys qid, answer_text", SHAPES, id="shape"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "field", "found", "expected"), BAD)
def test_bad_answers(campaign, import_file, rows, record, field, found, expected):
    before = rows()
    good = [answer()]
    refused = import_file(campaign, "runs", [*good, record])
    assert told(refused)[0] == (2, field, found, expected)
    assert refused.report["error_count"] == 1
    assert refused.state == Import.State.REFUSED
    assert rows() == before
    assert import_file(campaign, "runs", [*good, answer("t2")]).state == Import.State.DONE


def cite(count):
    return [f"d{n}" for n in range(1, count + 1)]


WARNED = [
    pytest.param([answer()], "topic without an answer", (1, "topic_id", "none for t2", "an answer"), id="topic"),
    pytest.param(
        [answer(sentences=[], response_length=0), answer("t2")],
        "answer without sentences",
        (1, "answer", "no sentence", "at least one sentence"),
        id="no-sentence",
    ),
    *(
        pytest.param(
            [answer(response_length=length), answer("t2")],
            "response_length differs",
            (1, "response_length", found, "4, the words counted"),
            id=f"response_length-{found}",
        )
        for length, found in [(5, "5"), (0, "0"), ("4", "4"), (None, "None"), (4.5, "4.5")]
    ),
    pytest.param(
        [answer(sentences=[sentence("w " * 401)], response_length=401), answer("t2")],
        "long answer",
        (1, "answer", "401 words", "at most 400"),
        id="words",
    ),
    pytest.param(
        [answer(references=cite(21)), answer("t2")],
        "many references",
        (1, "references", "21 references", "at most 20"),
        id="references",
    ),
    pytest.param(
        [answer(sentences=[sentence(citations=[0] * 21)]), answer("t2")],
        "many citations",
        (1, "citations", "21 in one sentence", "at most 20"),
        id="citations",
    ),
    pytest.param(
        [answer(references=["d9", "d1", "d8"], sentences=[sentence(citations=[0, 1, 2])]), answer("t2")],
        "cited text not loaded",
        (1, "citations", "2 of 3, first d8", "segments loaded"),
        id="text",
    ),
    pytest.param(
        [answer(references=[" d1 ", "d2"]), answer("t2")],
        "blanks around an id",
        (1, "references[0]", " d1 ", "stripped to d1"),
        id="blanks",
    ),
]


@pytest.mark.parametrize(("records", "kind", "warning"), WARNED)
def test_warnings_do_not_stop_an_import(campaign, import_file, records, kind, warning):
    done = import_file(campaign, "runs", records)
    assert warned(done) == {kind: [warning]}
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert campaign.runs.get().answers.count() == len(records)


def test_nothing_is_warned_of_at_the_limits(campaign, import_file, olga):
    long = [sentence("w " * 400, citations=[0] * 20)]
    at_the_limits = [
        answer(references=cite(20), sentences=long, response_length=400),
        dropped(answer("t2"), "response_length"),
    ]
    assert warned(import_file(campaign, "runs", at_the_limits)) == {}
    change_protocol(
        campaign=campaign,
        settings={"max_answer_words": 399, "max_sentence_citations": 19, "max_references": 19},
        acting_user=olga,
    )
    again = import_file(campaign, "runs", at_the_limits)
    assert warned(again) == {
        "long answer": [(1, "answer", "400 words", "at most 399")],
        "many citations": [(1, "citations", "20 in one sentence", "at most 19")],
        "many references": [(1, "references", "20 references", "at most 19")],
    }
    assert again.report["counts"]["answers already there"] == 2


def test_importing_twice_changes_nothing(campaign, import_file, rows):
    records = [answer(), answer("t2")]
    import_file(campaign, "runs", records)
    before, answers = rows(), list(Answer.objects.values())
    again = import_file(campaign, "runs", records)
    assert (again.state, again.report["counts"]["answers already there"]) == (Import.State.DONE, 2)
    assert (rows(), list(Answer.objects.values())) == (before, answers)


DIFFERING = [
    pytest.param({"references": ["d1", "d3"]}, id="references"),
    pytest.param({"answer": [sentence("Dogs bark at the moon.")]}, id="text"),
    pytest.param({"answer": [sentence(citations=[1])]}, id="citations"),
    pytest.param({"response_length": 5}, id="response_length"),
    pytest.param({"note": "new"}, id="another-key"),
]


@pytest.mark.parametrize("change", DIFFERING)
def test_an_answer_that_differs_from_the_loaded_one_is_refused(campaign, import_file, rows, change):
    import_file(campaign, "runs", [answer()])
    before, answers = rows(), list(Answer.objects.values())
    refused = import_file(campaign, "runs", [answer("t2"), answer() | change])
    assert told(refused) == [(2, "answer", "another answer", "the answer of r1 to t1 as it is loaded already")]
    assert (rows(), list(Answer.objects.values())) == (before, answers)


def test_a_run_may_come_in_several_files(campaign, import_file):
    assert list(warned(import_file(campaign, "runs", [answer()]))) == ["topic without an answer"]
    assert warned(import_file(campaign, "runs", [answer("t2")])) == {}
    assert campaign.runs.get().answers.count() == 2


def test_a_run_file_named_by_an_alias_goes_to_the_run(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nbuw,BUW,RAG,automatic,1,buw.buw BUW\n")
    for qid, run_id in [("t1", "buw.buw"), ("t2", "BUW")]:
        assert import_file(campaign, "runs", [answer(qid, run_id)]).state == Import.State.DONE
    run = campaign.runs.get()
    assert (run.tag, run.team, run.answers.count()) == ("buw", "BUW", 2)
    again = import_file(campaign, "runs", [answer("t1", "buw")])
    assert (again.state, again.report["counts"]["answers already there"]) == (Import.State.DONE, 1)


def test_names_are_not_guessed_from_tags(campaign, import_file):
    for run_id in ("buw", "buw.buw", "BUW"):
        assert import_file(campaign, "runs", [answer(run_id=run_id)]).state == Import.State.DONE
    assert set(campaign.runs.values_list("tag", flat=True)) == {"buw", "buw.buw", "BUW"}


def test_an_alias_of_two_runs_is_an_error(campaign, import_file, rows):
    for tag in ("one", "two"):
        import_file(campaign, "runs", [answer(run_id=tag)])
    # No import lets this come about.
    RunAlias.objects.create(campaign=campaign, run=Run.objects.get(tag="one"), name="two")
    before = rows()
    refused = import_file(campaign, "runs", [answer("t2", "two")])
    [(line, field, found, expected)] = told(refused)
    assert (line, field, found) == (1, "run_id", "two")
    assert expected in ("a name of one run; one and two have it", "a name of one run; two and one have it")
    assert rows() == before
    assert import_file(campaign, "runs", [answer("t2", "one")]).state == Import.State.DONE


def test_an_alias_of_another_campaign_is_none_here(campaign, other_campaign, import_file):
    import_file(other_campaign, "run_list", "tag,team,task,type,priority,aliases\nother,,,,,r1\n")
    import_file(campaign, "runs", [answer()])
    assert campaign.runs.get().tag == "r1"


def test_hostile_text_is_kept_as_it_is(campaign, import_file):
    texts = ["<script>alert(1)</script>", "\u202eevil\u2066", "x" * 100_000, "", "\x01"]
    records = [answer(sentences=[sentence(text) for text in texts], response_length=4), answer("t2")]
    assert import_file(campaign, "runs", records).state == Import.State.DONE
    assert [s.text for s in Answer.objects.get(topic__qid="t1").sentences()] == texts


def test_a_run_of_several_batches(empty_campaign, import_file, rows):
    import_file(empty_campaign, "topics", "".join(f"t{n}\ttitle\n" for n in range(450)))
    before = rows()
    records = [answer(f"t{n}") for n in range(450)]
    refused = import_file(empty_campaign, "runs", [*records, answer("t0")])
    assert told(refused) == [(451, "topic_id", "t0", "each once; it stands on line 1 already")]
    assert rows() == before
    done = import_file(empty_campaign, "runs", records)
    assert (done.report["counts"]["runs added"], done.report["counts"]["answers added"]) == (1, 450)


def test_a_text_that_a_dead_import_left_counts_as_not_loaded(campaign, import_file):
    import_file(campaign, "segments", [{"docid": "d9", "segment": "text"}])
    left = Import.objects.latest("pk")
    run = [answer("t1", references=["d9"])]
    Import.objects.filter(pk=left.pk).update(state=Import.State.INTERRUPTED, has_leftovers=True)
    checked = import_file(campaign, "runs", run, check_only=True)
    assert [kind["kind"] for kind in checked.report["warnings"]] == ["cited text not loaded", "topic without an answer"]
    Import.objects.filter(pk=left.pk).update(state=Import.State.DONE, has_leftovers=False)
    checked = import_file(campaign, "runs", run, check_only=True)
    assert [kind["kind"] for kind in checked.report["warnings"]] == ["topic without an answer"]
