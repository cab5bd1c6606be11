"""Runs in the forms of RAG25, RAG26 and RAGTIME: what each takes, refuses and warns of, and what comes back."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assessor.campaigns.actions import create_campaign
from assessor.campaigns.exports import run_lines, segments_lines
from assessor.campaigns.models import Answer, Import, Segment
from tests.examples import examples
from tests.imports.conftest import told, warned

LACKING = "a topic of the campaign; load the topics first"
SHAPES = "run_id, topic_id, references, answer; metadata, references, answer; or metadata, responses"


def rag25(qid="t1", run_id="r1", sentences=None, references=("d1", "d2"), metadata=None, **more):
    return {
        "metadata": {"team_id": "T", "run_id": run_id, "type": "automatic", "narrative_id": qid, "narrative": "why"}
        | (metadata or {}),
        "references": list(references),
        "answer": [{"text": "Cats purr.", "citations": [0]}] if sentences is None else sentences,
    } | more


def rag26(qid="t1", **more):
    return rag25(qid, metadata={"run_desc": "first try"}, **more)


def ragtime(qid="t1", run_id="r1", responses=None, **more):
    default = [{"text": "Cats purr.", "citations": {"d1": 0.9}}]
    metadata = {"team_id": "T", "run_id": run_id, "topic_id": qid}
    return {"metadata": metadata, "responses": default if responses is None else responses} | more


def sentence(citations, text="Cats purr."):
    return {"text": text, "citations": citations}


MAKERS = {"rag25": rag25, "rag26": rag26, "ragtime": ragtime}


@pytest.mark.parametrize("form", MAKERS)
def test_an_answer_of_each_form(campaign, import_file, form):
    done = import_file(campaign, "runs", [MAKERS[form](), MAKERS[form]("t2")])
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "runs added": 1, "answers added": 2, "sentences added": 2, "citations added": 2, "lines": 2
    }  # fmt: skip
    run = campaign.runs.get()
    # runs.csv alone says what a run is.
    assert (run.tag, run.team, run.type) == ("r1", "", "")
    answer = run.answers.get(topic__qid="t1")
    assert (answer.form, answer.words) == (form, 2)
    assert [(s.text, s.citations) for s in answer.sentences()] == [("Cats purr.", ((0, "d1"),))]


CITATIONS = [
    pytest.param(rag25(sentences=[sentence([1, 0])]), ["d2", "d1"], id="rag25-positions"),
    pytest.param(rag25(sentences=[sentence(["d2", "d1"])]), ["d2", "d1"], id="rag25-docids"),
    pytest.param(rag25(sentences=[sentence([1, "d1"])]), ["d2", "d1"], id="rag25-both"),
    pytest.param(ragtime(responses=[sentence({"d2": 1, "d1": 0.5})]), ["d2", "d1"], id="ragtime-scores"),
    pytest.param(ragtime(responses=[sentence(["d2", "d1"])]), ["d2", "d1"], id="ragtime-docids"),
    pytest.param(ragtime(responses=[sentence([1, 0])], references=["d1", "d2"]), ["d2", "d1"], id="ragtime-positions"),
    pytest.param(ragtime(responses=[sentence([])], references=[]), [], id="ragtime-none"),
    pytest.param(ragtime(responses=[sentence(["d2", "d1"])], references=[]), ["d2", "d1"], id="ragtime-no-references"),
    pytest.param(ragtime(responses=[sentence({"d2": 1})], references=[]), ["d2"], id="ragtime-scores-no-references"),
    pytest.param(rag25(sentences=[sentence(["d2", "d1"])], references=[]), ["d2", "d1"], id="rag25-no-references"),
]


@pytest.mark.parametrize(("record", "docids"), CITATIONS)
def test_every_form_of_citation_leads_to_its_docid_and_stays_as_it_came(campaign, import_file, record, docids):
    assert import_file(campaign, "runs", [record]).state == Import.State.DONE
    answer = Answer.objects.get()
    [cited] = [[citation.docid for citation in sentence.citations] for sentence in answer.sentences()]
    assert cited == docids
    assert answer.content == record.get("answer", record.get("responses"))


def with_metadata(record, **changes):
    metadata = {key: value for key, value in (record["metadata"] | changes).items() if value != "DROP"}
    return record | {"metadata": metadata}


SCORES = "a list of docids or of positions in references, or scores by docid"
BAD = [
    pytest.param(rag25("t9"), "metadata.narrative_id", None, "t9", LACKING, id="topic"),
    pytest.param(rag25(9), "metadata.narrative_id", None, "9", LACKING, id="topic-number"),
    pytest.param(rag25(True), "metadata.narrative_id", None, "True", "an id, as text", id="topic-true"),
    pytest.param(rag25("t2", run_id=5), "metadata.run_id", None, "5", "an id, as text", id="run-number"),
    pytest.param(
        rag25("t2", run_id="r2"),
        "metadata.run_id", None, "r2", "one run a file: r1, as in the lines before",
        id="two-runs",
    ),
    pytest.param(
        rag25("t1"),
        "metadata.narrative_id", None, "t1", "each once; it stands on line 1 already",
        id="topic-twice",
    ),
    pytest.param(
        with_metadata(rag25("t2"), narrative_id="DROP"),
        "metadata.narrative_id", None,
        "keys team_id, run_id, type, narrative",
        "the key narrative_id",
        id="no-topic",
    ),
    pytest.param(
        rag25("t2") | {"metadata": "m"}, "metadata", None, "m", "an object with run_id and narrative_id", id="metadata"
    ),
    pytest.param({"metadata": {}}, "", None, "keys metadata", SHAPES, id="neither-answer-nor-responses"),
    pytest.param(
        rag25("t2") | {"responses": []}, "", None, "keys metadata, references, answer, responses", SHAPES, id="both"
    ),
    pytest.param(rag26("t2"), "", None, "the form rag26", "one form a file: rag25, as before", id="rag26"),
    pytest.param(ragtime("t2"), "", None, "the form ragtime", "one form a file: rag25, as before", id="ragtime"),
    pytest.param(
        {"run_id": "r1", "topic_id": "t2", "references": [], "answer": []},
        "", None, "the form rag24", "one form a file: rag25, as before",
        id="rag24",
    ),
    pytest.param(
        rag25("t2", sentences=[sentence([2])]),
        "answer[0].citations", None, "2", "a docid, or a position in references, 0 to 1",
        id="position",
    ),
    pytest.param(
        rag25("t2", sentences=[sentence(["d3"])]),
        "answer[0].citations", None, "d3", "one of the references",
        id="docid",
    ),
    pytest.param(
        rag25("t2", sentences=[sentence({"d1": 1})]),
        "answer[0].citations", None, "{'d1': 1}", "a list of docids or of positions in references",
        id="scores",
    ),
    pytest.param(
        rag25("t2", sentences=[sentence([None])]),
        "answer[0].citations", None, "None", "a docid, or a position in references, 0 to 1",
        id="null",
    ),
    pytest.param(rag25("t2", references=["d1", "d1"]), "references[1]", None, "d1", "each docid once", id="reference"),
    pytest.param(ragtime(7), "metadata.topic_id", "ragtime", "7", LACKING, id="ragtime-topic"),
    pytest.param(
        ragtime("t2", responses="r"), "responses", "ragtime", "r", "a list of sentences", id="ragtime-responses"
    ),
    pytest.param(
        ragtime("t2", references=None), "references", "ragtime", "None", "a list of docids", id="ragtime-references"
    ),
    pytest.param(
        ragtime("t2", responses=[sentence([0])]),
        "responses[0].citations", "ragtime", "0", "a docid",
        id="no-references",
    ),
    pytest.param(
        ragtime("t2", responses=[sentence({"d2": 1})], references=["d1"]),
        "responses[0].citations", "ragtime", "d2", "one of the references",
        id="ragtime-outside",
    ),
    pytest.param(
        ragtime("t2", responses=[sentence({"d1": "high"})]),
        "responses[0].citations.d1", "ragtime", "high", "a score, as a number",
        id="score",
    ),
    pytest.param(
        ragtime("t2", responses=[sentence({"d1": 1, " d1": 2})]),
        "responses[0].citations", "ragtime", "d1", "each docid once",
        id="score-twice",
    ),
    pytest.param(
        ragtime("t2", responses=[sentence("d1")]), "responses[0].citations", "ragtime", "d1", SCORES, id="citations"
    ),
    pytest.param(
        ragtime("t2", documents=["d1"]), "documents", "ragtime", "['d1']", "an object of documents by docid", id="list"
    ),
    pytest.param(
        ragtime("t2", documents={"d1": {"id": "d2", "text": "a"}}),
        "documents.d1", "ragtime", "{'id': 'd2', 'text': 'a'}",
        "an object with text whose id, if it has one, is its key",
        id="document-id",
    ),
    pytest.param(
        ragtime("t2", documents={"d1": {"docid": "d2", "text": "a"}}),
        "documents.d1", "ragtime", "{'docid': 'd2', 'text': 'a'}",
        "an object with text whose id, if it has one, is its key",
        id="document-docid",
    ),
    pytest.param(
        ragtime("t2", documents={"d7": {"text": "a"}, " d7": {"text": "a"}}),
        "documents. d7", "ragtime", "d7", "each docid once",
        id="document-twice",
    ),
    pytest.param(
        ragtime("t2", documents={"d9": {"id": "d9"}}),
        "documents.d9.segment", "ragtime", "keys docid", "the text under one of segment, text, contents, body",
        id="document-without-text",
    ),
    pytest.param(
        ragtime("t2", documents={"d1": {"text": "Another text."}}),
        "documents", "ragtime", "d1: Another text.",
        "d1 as it is loaded already: Cats purr when content. Some purr when in pain.",
        id="document-differs-from-loaded",
    ),
    pytest.param(
        ragtime("t2", documents={"d8": {"text": "Another text."}}),
        "documents", "ragtime", "d8", "the same text as on line 1",
        id="document-differs-in-file",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("record", "field", "form", "found", "expected"), BAD)
def test_bad_answers(campaign, import_file, rows, record, field, form, found, expected):
    good = ragtime(documents={"d8": {"text": "One text."}}) if form else rag25()
    before = rows()
    refused = import_file(campaign, "runs", [good, record])
    assert told(refused) == [(2, field, found, expected)]
    assert (refused.state, rows()) == (Import.State.REFUSED, before)
    assert import_file(campaign, "runs", [good]).state == Import.State.DONE


WARNED = [
    pytest.param(
        [rag25(metadata={"type": "both"}), rag25("t2")],
        "type of run", (1, "metadata.type", "both", "automatic or manual"),
        id="type",
    ),
    pytest.param(
        [rag26(sentences=[sentence([0] * 4)]), rag26("t2", sentences=[sentence([0] * 3)])],
        "many citations", (1, "citations", "4 in one sentence", "at most 3"),
        id="rag26-citations",
    ),
    pytest.param(
        [rag25(sentences=[sentence(["d1"] * 21)]), rag25("t2", sentences=[sentence([0] * 20)])],
        "many citations", (1, "citations", "21 in one sentence", "at most 20"),
        id="rag25-citations",
    ),
    pytest.param([rag25()], "topic without an answer", (1, "topic_id", "none for t2", "an answer"), id="topic"),
    pytest.param(
        [ragtime(responses=[]), ragtime("t2")],
        "answer without sentences", (1, "responses", "no sentence", "at least one sentence"),
        id="no-sentence",
    ),
    pytest.param(
        [rag25(response_length=9), rag25("t2", response_length=2)],
        "response_length differs", (1, "response_length", "9", "2, the words counted"),
        id="response_length",
    ),
    pytest.param(
        [ragtime(responses=[sentence({"d8": 1, "d1": 2})]), ragtime("t2")],
        "cited text not loaded", (1, "citations", "1 of 2, first d8", "segments loaded"),
        id="text",
    ),
    pytest.param(
        [ragtime(responses=[sentence([" d1"])]), ragtime("t2")],
        "blanks around an id", (1, "responses[0].citations", " d1", "stripped to d1"),
        id="blanks",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("records", "kind", "warning"), WARNED)
def test_warnings_do_not_stop_an_import(campaign, import_file, records, kind, warning):
    done = import_file(campaign, "runs", records)
    assert warned(done) == {kind: [warning]}
    assert (done.state, campaign.runs.get().answers.count()) == (Import.State.DONE, len(records))


def test_documents_become_segments_and_their_texts_count_as_loaded(campaign, import_file):
    documents = {
        "d1": {"id": "d1", "text": "Cats purr when content. Some purr when in pain.", "title": "Another title"},
        "d7": {"id": "d7", "text": "Silk is spun.", "title": "Silk", "url": "u", "lang": "en"},
    }
    cite_both = [sentence({"d1": 1, "d7": 1})]
    records = [ragtime(responses=cite_both, documents=documents), ragtime("t2", responses=cite_both)]
    done = import_file(campaign, "runs", records)
    assert (done.state, warned(done)) == (Import.State.DONE, {})
    assert (done.report["counts"]["segments added"], done.report["counts"]["segments already there"]) == (1, 1)
    new = Segment.objects.get(docid="d7")
    assert (new.text, new.extras) == ("Silk is spun.", {"title": "Silk", "url": "u", "lang": "en"})
    assert Segment.objects.get(docid="d1").extras == {"title": "Purring"}
    exported = [json.loads(line) for line in run_lines(campaign.runs.get())]
    assert exported == records
    assert '"text": "Silk is spun."' not in json.dumps(Answer.objects.get(topic__qid="t1").extras)
    again = import_file(campaign, "runs", records)
    assert (again.state, again.report["counts"]["answers already there"]) == (Import.State.DONE, 2)


def test_documents_of_a_stopped_import_are_gone(campaign, import_file, rows, monkeypatch):
    from assessor.imports.loaders.runs import RunLoader

    def fail(self, import_record):
        raise OSError("disk full")

    before = rows()
    monkeypatch.setattr(RunLoader, "finish", fail)
    with pytest.raises(OSError, match="disk full"):
        import_file(campaign, "runs", [ragtime(documents={"d7": {"text": "Silk."}})])
    assert rows() == before


def test_a_run_of_which_no_line_can_be_read_is_not_said_to_lack_topics(campaign, import_file):
    refused = import_file(campaign, "runs", [ragtime(references=None)])
    assert told(refused) == [(1, "references", "None", "a list of docids")]
    assert warned(refused) == {}


def test_an_alias_leads_to_the_run_in_every_form(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nbuw,BUW,RAG,manual,1,buw.buw\n")
    import_file(campaign, "runs", [rag25(run_id="buw.buw")])
    again = import_file(campaign, "runs", [rag25(run_id="buw"), rag25("t2", run_id="buw")])
    assert again.report["counts"]["answers already there"] == 1
    assert {json.loads(line)["metadata"]["run_id"] for line in run_lines(campaign.runs.get())} == {"buw"}
    assert campaign.runs.get().type == "manual"


def test_the_same_answer_in_another_form_is_another_one(campaign, import_file):
    import_file(campaign, "runs", [rag25()])
    refused = import_file(campaign, "runs", [with_metadata(rag25(), run_desc="d")])
    assert told(refused) == [(1, "answer", "another answer", "the answer of r1 to t1 as it is loaded already")]


FULL = {
    "rag24": [
        {"run_id": "r1", "topic_id": 464, "topic": "q", "references": ["d1"], "response_length": 2,
         "answer": [{"text": "é 😀", "citations": [0, 0], "why": [1.50, None]}], "metadata": {"b": 1, "a": 2}},
    ],
    "rag25": [
        rag25(464, metadata={"prompt": "p", "zeta": {"b": [1]}}, sentences=[sentence(["d2", 0], "<b>\u202e")], x=1),
        rag25("t1", response_length=2, sentences=[sentence(["d1"])], references=[]),
    ],
    "rag26": [rag26(464, sentences=[sentence([1]) | {"kind": "x"}]), rag26("t1", sentences=[])],
    "ragtime": [
        ragtime(464, responses=[sentence({"d2": 1, "d1": 0.25})], references=["d1", "d2"], is_ragtime=True),
        ragtime("t1", references=[], responses=[sentence(["d1"])]),
        ragtime("t2", documents={"d8": {"title": "T", "text": "é", "id": "d8"}, "d9": {"segment": "s", "n": 1}}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", FULL)
def test_a_run_comes_back_as_it_was_from_a_new_campaign(campaign, other_campaign, import_file, form):
    topics = "t1\twhy do cats purr\nt2\thow\n464\tglass\n"
    import_file(campaign, "topics", "464\tglass\n")
    import_file(other_campaign, "topics", topics)
    assert told(import_file(campaign, "runs", FULL[form])) == []
    exported = list(run_lines(campaign.runs.get()))
    by_topic = sorted(FULL[form], key=lambda record: str(_qid(record)))
    assert [json.loads(line) for line in exported] == by_topic
    assert told(import_file(other_campaign, "runs", "".join(exported))) == []
    assert list(run_lines(other_campaign.runs.get())) == exported
    assert import_file(campaign, "runs", "".join(exported)).report["counts"]["answers already there"] == len(exported)
    if form == "ragtime":
        assert [json.loads(line)["docid"] for line in segments_lines(other_campaign)] == ["d8", "d9"]


def _qid(record):
    return record.get("topic_id") or record["metadata"].get("narrative_id") or record["metadata"]["topic_id"]


def test_blanks_around_docids_go_with_a_warning(campaign, import_file):
    record = ragtime(responses=[sentence({" d7": 1})], documents={"d7 ": {"text": "Silk."}})
    done = import_file(campaign, "runs", [record, ragtime("t2")])
    assert warned(done) == {
        "blanks around an id": [
            (1, "documents.d7 .docid", "d7 ", "stripped to d7"),
            (1, "responses[0].citations", " d7", "stripped to d7"),
        ]
    }
    out = json.loads(next(run_lines(campaign.runs.get())))
    assert (out["responses"], out["documents"]) == ([sentence({"d7": 1})], {"d7": {"text": "Silk."}})


a_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
clean = a_value.filter(lambda value: "\\u0000" not in json.dumps(value) and "\\ud" not in json.dumps(value))
extras = st.dictionaries(st.sampled_from(["note", "prompt", "zeta", "trace"]), clean, max_size=3)


@st.composite
def a_run(draw):
    """Return a run's answers to t1 and t2 in some form, with further keys everywhere."""
    form = draw(st.sampled_from(sorted(MAKERS)))
    docids = st.sampled_from(["d1", "d2"])
    ways = [st.lists(docids | st.integers(0, 1), max_size=3)]
    if form == "ragtime":
        ways.append(st.dictionaries(docids, st.integers() | st.floats(0, 1), max_size=2))
    records = []
    for qid in ("t1", "t2"):
        cited = draw(st.lists(st.tuples(st.text("ab é", max_size=8), st.one_of(ways), extras), max_size=3))
        sentences = [more | {"text": text, "citations": citations} for text, citations, more in cited]
        record = MAKERS[form](qid) | {
            "references": ["d1", "d2"],
            "responses" if form == "ragtime" else "answer": sentences,
        }
        record["metadata"] |= {key: draw(clean) for key in draw(st.sets(st.sampled_from(["prompt", "zeta"])))}
        records.append(record | draw(extras))
    return records


@settings(max_examples=examples(15, 500))
@given(records=a_run())
@pytest.mark.django_db
def test_any_run_comes_back_equal(tmp_path_factory, records):
    from django.db import transaction

    from assessor.imports import importer

    path = tmp_path_factory.mktemp("run") / "file"
    with transaction.atomic():
        exports = ["".join(json.dumps(record) + "\n" for record in records)]
        for slug in ("first", "second"):
            campaign = create_campaign(name=slug, slug=slug, acting_user=None)
            for kind, content in [("topics", "t1\ta\nt2\tb\n"), ("runs", exports[-1])]:
                path.write_text(content)
                record = importer.new_import(
                    campaign=campaign, kind=kind, file_name="f", options={}, person=None, check_only=False
                )
                assert told(importer.run(record, path)) == []
            exports.append("".join(run_lines(campaign.runs.get())))
        transaction.set_rollback(True)
    assert exports[1] == exports[2]
    for before, after in pairwise(exports):
        assert [json.loads(line) for line in before.split("\n")[:-1]] == [
            json.loads(line) for line in after.split("\n")[:-1]
        ]
