"""Exports: the same data, the same bytes, in any database; what is exported comes in again as the same."""

import json

import pytest

from assessor.campaigns.exports import qrels_lines, run_lines, run_list_lines, segments_lines, topics_form, topics_lines
from assessor.campaigns.models import Import
from tests.imports.conftest import told

# In the order of their bytes, which is neither that of numbers nor that of letters in any language.
ORDERED = ["T1", "_t", "t1", "t10", "t2", "é", "文", "😀"]
SHUFFLED = ["t2", "é", "T1", "😀", "t10", "_t", "文", "t1"]


def dump(**record):
    return json.dumps(record, ensure_ascii=False) + "\n"


def topics_of(ids):
    return "".join(f"{qid}\ttitle of {qid}\n" for qid in ids)


def export(lines):
    return "".join(lines)


TOPICS = [
    pytest.param("tsv", topics_of(SHUFFLED), topics_of(ORDERED), id="tsv"),
    pytest.param(
        "jsonl",
        dump(title="Ünïcode \t\n\u2028\u202e 😀 <b>", id="t2")
        + '{"id":"t10","title":"\\u0001\\u00e9","x":{"b":1,"a":null}}\n',
        '{"id": "t10", "title": "\\u0001é", "x": {"b": 1, "a": null}}\n'
        '{"id": "t2", "title": "Ünïcode \\t\\n\u2028\u202e 😀 <b>"}\n',
        id="jsonl",
    ),
    pytest.param(
        "request",
        dump(request_id="t2", title="b", limit=2000)
        + dump(background="g", collection_ids=["c"], request_id="T1", limit=2e3, title="a", problem_statement="p"),
        '{"request_id": "T1", "title": "a", "background": "g", "collection_ids": ["c"], "limit": 2000.0,'
        ' "problem_statement": "p"}\n{"request_id": "t2", "title": "b", "limit": 2000}\n',
        id="request",
    ),
]


@pytest.mark.parametrize(("form", "content", "exported"), TOPICS)
def test_topics_come_back_as_they_were(empty_campaign, other_campaign, import_file, form, content, exported):
    assert import_file(empty_campaign, "topics", content).state == Import.State.DONE
    assert topics_form(empty_campaign) == form
    assert export(topics_lines(empty_campaign)) == exported
    assert import_file(other_campaign, "topics", exported).state == Import.State.DONE
    assert export(topics_lines(other_campaign)) == exported
    again = import_file(empty_campaign, "topics", exported)
    assert (again.state, again.report["counts"]["topics added"]) == (Import.State.DONE, 0)


def test_topics_in_another_form(empty_campaign, import_file):
    records = dump(request_id="t1", title="a\tb\r\nc", limit=5) + dump(request_id="t2", title=" kept  so ", id="x")
    import_file(empty_campaign, "topics", records)
    assert export(topics_lines(empty_campaign, "tsv")) == "t1\ta b c\nt2\t kept  so \n"
    assert export(topics_lines(empty_campaign, "jsonl")) == (
        '{"id": "t1", "title": "a\\tb\\r\\nc", "limit": 5}\n{"id": "t2", "title": " kept  so "}\n'
    )


def test_no_topics(empty_campaign):
    assert (topics_form(empty_campaign), export(topics_lines(empty_campaign))) == ("tsv", "")


SEGMENTS = (
    dump(
        end_char=9,
        segment="the text é \u202e\u2028",
        lang="de",
        title="A",
        docid="d2",
        start_char=0,
        url="u",
        headings="h",
    )
    + dump(docid="d10", text="plain")
    + dump(docid="é", body="x" * 100_000)
    + dump(docid="D1", contents="NaN", score=0.1, big=10**30, small=1e-7, tree={"b": [1, 2.50], "a": {}})
)
SEGMENTS_OUT = (
    '{"docid": "D1", "segment": "NaN", "score": 0.1, "big": 1000000000000000000000000000000, "small": 1e-07,'
    ' "tree": {"b": [1, 2.5], "a": {}}}\n'
    '{"docid": "d10", "segment": "plain"}\n'
    '{"docid": "d2", "url": "u", "title": "A", "headings": "h", "segment": "the text é \u202e\u2028", "start_char": 0,'
    ' "end_char": 9, "lang": "de"}\n'
    f'{{"docid": "é", "segment": "{"x" * 100_000}"}}\n'
)


def test_segments_come_back_as_they_were(empty_campaign, other_campaign, import_file):
    assert import_file(empty_campaign, "segments", SEGMENTS).state == Import.State.DONE
    assert export(segments_lines(empty_campaign)) == SEGMENTS_OUT
    assert import_file(other_campaign, "segments", SEGMENTS_OUT).state == Import.State.DONE
    assert export(segments_lines(other_campaign)) == SEGMENTS_OUT
    again = import_file(empty_campaign, "segments", SEGMENTS_OUT)
    assert (again.state, again.report["counts"]["segments already there"]) == (Import.State.DONE, 4)


def test_qrels_come_back_as_they_were(empty_campaign, other_campaign, import_file):
    lines = [f"{qid} {1 + at % 5} {docid} {at % 4}\n" for qid in ORDERED for at, docid in enumerate(ORDERED)]
    out = "".join(lines)
    for campaign, content in [(empty_campaign, "".join(sorted(lines, key=hash))), (other_campaign, out)]:
        import_file(campaign, "topics", topics_of(SHUFFLED))
        import_file(campaign, "qrels", "t1 7 t1 0\n", source="UMBRELA", by="model")
        assert import_file(campaign, "qrels", content, source="NIST", by="people").state == Import.State.DONE
        assert export(qrels_lines(campaign.qrels_sources.get(name="NIST"))) == out
        assert export(qrels_lines(campaign.qrels_sources.get(name="UMBRELA"))) == "t1 7 t1 0\n"


ANSWERS = (
    dump(
        answer=[{"citations": [1, 0], "text": "é \u202e <b>", "kind": "x"}, {"text": "", "citations": []}],
        zeta={"b": 1, "a": [None, True, 0.5]},
        response_length="268",
        topic_id="t2",
        references=["d2", "d1"],
        run_id="r1",
        topic="how",
        alpha=1,
    )
    + dump(run_id="r1", topic_id="t10", references=[], answer=[])
    + dump(run_id="r1", topic_id="T1", topic="x", references=[], response_length=268, answer=[])
)
ANSWERS_OUT = (
    '{"run_id": "r1", "topic_id": "T1", "topic": "x", "references": [], "response_length": 268, "answer": []}\n'
    '{"run_id": "r1", "topic_id": "t10", "references": [], "answer": []}\n'
    '{"run_id": "r1", "topic_id": "t2", "topic": "how", "references": ["d2", "d1"], "response_length": "268",'
    ' "answer": [{"citations": [1, 0], "text": "é \u202e <b>", "kind": "x"}, {"text": "", "citations": []}],'
    ' "zeta": {"b": 1, "a": [null, true, 0.5]}, "alpha": 1}\n'
)


def test_runs_come_back_as_they_were(empty_campaign, other_campaign, import_file):
    for campaign, content in [(empty_campaign, ANSWERS), (other_campaign, ANSWERS_OUT)]:
        import_file(campaign, "topics", topics_of(SHUFFLED))
        assert import_file(campaign, "runs", content).state == Import.State.DONE
        assert export(run_lines(campaign.runs.get())) == ANSWERS_OUT
    assert import_file(empty_campaign, "runs", ANSWERS_OUT).report["counts"]["answers already there"] == 3


def test_a_run_that_came_under_an_alias_is_exported_with_its_tag(campaign, import_file):
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nbuw,,,,,buw.buw\n")
    import_file(campaign, "runs", [{"run_id": "buw.buw", "topic_id": "t1", "references": [], "answer": []}])
    assert (
        export(run_lines(campaign.runs.get()))
        == '{"run_id": "buw", "topic_id": "t1", "references": [], "answer": []}\n'
    )


RUN_LIST = '''\
tag,team,task,type,priority,aliases,generator
t2,"Webis, ""Weimar""",AG,manual,,b a,openai meta
é, T ,RAG,automatic,3,,
T1,=1+1,,,0,T1 x.y,
"t,10","a\rb",,,999999999,,other
t1,,,,,,
'''
RUN_LIST_OUT = '''\
tag,team,task,type,priority,aliases,generator
T1,=1+1,,,0,T1 x.y,
"t,10","a\rb",,,999999999,,other
t1,,,,,,
t2,"Webis, ""Weimar""",AG,manual,,b a,openai meta
é, T ,RAG,automatic,3,,
'''


def test_the_list_of_runs_comes_back_as_it_was(empty_campaign, other_campaign, import_file):
    for campaign, content in [(empty_campaign, RUN_LIST), (other_campaign, RUN_LIST_OUT)]:
        assert told(import_file(campaign, "run_list", content)) == []
        assert export(run_list_lines(campaign)) == RUN_LIST_OUT
    assert import_file(empty_campaign, "run_list", RUN_LIST_OUT).report["counts"]["runs already so"] == 5


def test_exports_are_sorted_by_bytes(empty_campaign, import_file):
    import_file(empty_campaign, "topics", topics_of(SHUFFLED))
    import_file(empty_campaign, "segments", [{"docid": docid, "segment": "s"} for docid in SHUFFLED])
    import_file(empty_campaign, "qrels", "".join(f"t1 0 {d} 1\n" for d in SHUFFLED), source="NIST", by="people")
    answers = [{"run_id": "r", "topic_id": qid, "references": [], "answer": []} for qid in SHUFFLED]
    import_file(empty_campaign, "runs", answers)
    rows = "".join(f"{tag},,,,,\n" for tag in SHUFFLED)
    import_file(empty_campaign, "run_list", "tag,team,task,type,priority,aliases\n" + rows)
    assert sorted(SHUFFLED, key=str.encode) == ORDERED
    assert [line.split("\t")[0] for line in topics_lines(empty_campaign)] == ORDERED
    assert [json.loads(line)["docid"] for line in segments_lines(empty_campaign)] == ORDERED
    assert [line.split()[2] for line in qrels_lines(empty_campaign.qrels_sources.get())] == ORDERED
    assert [json.loads(line)["topic_id"] for line in run_lines(empty_campaign.runs.get(tag="r"))] == ORDERED
    listed = [line.split(",")[0] for line in run_list_lines(empty_campaign)]
    assert listed == ["tag", *sorted([*ORDERED, "r"], key=str.encode)]


def test_nothing_of_an_unfinished_import_is_exported(campaign, import_file):
    done = import_file(campaign, "topics", "t3\tunfinished\n")
    assert "t3" in export(topics_lines(campaign))
    Import.objects.filter(pk=done.pk).update(state=Import.State.RUNNING)
    assert export(topics_lines(campaign)) == "t1\twhy do cats purr\nt2\thow is glass recycled\n"


def test_topics_of_mixed_forms_lose_no_key(empty_campaign, import_file):
    import_file(empty_campaign, "topics", "t1\ta\n")
    import_file(empty_campaign, "topics", [{"request_id": "t2", "title": "b", "limit": 2000}])
    assert topics_form(empty_campaign) == "request"
    assert export(topics_lines(empty_campaign)) == (
        '{"request_id": "t1", "title": "a"}\n{"request_id": "t2", "title": "b", "limit": 2000}\n'
    )
