"""Retrieval runs and the pool made from their first ranks."""

import pytest

from assessor.campaigns.actions import change_protocol
from assessor.campaigns.exports import pool_lines, retrieval_run_lines
from assessor.campaigns.models import Import, RankedSegment, RetrievalRun
from assessor.desk import queries
from assessor.desk.completeness import gaps
from tests.imports.conftest import told, warned

GOOD = ["t1 Q0 d1 1 2.50 bm25", "t1 Q0 d2 2 -1e-3 bm25", "t2 Q0 d1 0 7 bm25"]
SIX = "six fields separated by blanks"


def ranking(tag, **topics):
    """Return a run's lines: for each topic its docids, ranked from 1."""
    return "".join(
        f"{qid} Q0 {docid} {rank} {100 - rank} {tag}\n"
        for qid, docids in topics.items()
        for rank, docid in enumerate(docids.split(), start=1)
    )


def export(lines):
    return "".join(lines)


def test_a_retrieval_run(campaign, import_file):
    done = import_file(campaign, "retrieval", "\n".join(GOOD))
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "retrieval runs added": 1, "rankings added": 2, "ranked segments added": 3, "lines": 3
    }  # fmt: skip
    run = campaign.retrieval_runs.get()
    assert run.tag == "bm25"
    assert list(run.ranked.values_list("topic__qid", "docid", "rank", "place", "score")) == [
        ("t1", "d1", 1, 0, "2.50"), ("t1", "d2", 2, 1, "-1e-3"), ("t2", "d1", 0, 0, "7")
    ]  # fmt: skip


BAD = [
    pytest.param("t2 Q0 d2 1 2.5", "", "5 fields: t2 Q0 d2 1 2.5", SIX, id="five"),
    pytest.param("t2 Q0 d 2 1 2.5 bm25", "", "7 fields: t2 Q0 d 2 1 2.5 bm25", SIX, id="seven"),
    pytest.param("t9 Q0 d2 1 2.5 bm25", "topic", "t9", "a topic of the campaign; load the topics first", id="topic"),
    pytest.param(
        "t2 Q0 d2 1 2.5 BM25", "tag", "BM25", "one tag a file: bm25, as in the lines before", id="another-tag"
    ),
    pytest.param(
        "t2 Q0 d1 1 2.5 bm25", "docid", "d1", "each once in a topic; it stands on line 3 already", id="docid-twice"
    ),
    pytest.param(
        "t2 Q0 d2 0 2.5 bm25", "rank", "0", "each once in a topic; it stands on line 3 already", id="rank-twice"
    ),
    pytest.param(
        "t1 Q0 d3 3 2.5 bm25", "topic", "t1", "a topic's lines together; they begin on line 1", id="topic-apart"
    ),
    *(
        pytest.param(f"t2 Q0 d2 {rank} 2.5 bm25", "rank", rank, "a whole number", id=f"rank-{rank}")
        for rank in ("-1", "1.0", "one", "1e3", "9999999999", "²")
    ),
    *(
        pytest.param(
            f"t2 Q0 d2 1 {score} bm25", "score", score, "a finite number of at most 40 characters", id=f"score-{score}"
        )
        for score in ("nan", "inf", "-Infinity", "1e999", "1_0", "x", "0x1", "1,5", "1" * 41)
    ),
    pytest.param(
        "t2 Q0 d\u200b 1 2.5 bm25", "docid", "d\\u200b", "an id without control or invisible characters", id="docid"
    ),
]


@pytest.mark.parametrize(("bad", "field", "found", "expected"), BAD)
def test_bad_lines(campaign, refuses, bad, field, found, expected):
    refuses(campaign, "retrieval", GOOD, bad, (field, found, expected))


def test_a_run_comes_back_as_it_was(campaign, other_campaign, import_file):
    shuffled = "t2\tQ0\td1   0 7 bm25\r\n\nt1 Q0 d2 5 .5E+2 bm25\nt1 0 d1 1 2.50 bm25\n"
    out = "t1 Q0 d1 1 2.50 bm25\nt1 Q0 d2 5 .5E+2 bm25\nt2 Q0 d1 0 7 bm25\n"
    import_file(other_campaign, "topics", "t1\ta\nt2\tb\n")
    for target, content in [(campaign, shuffled), (other_campaign, out)]:
        assert told(import_file(target, "retrieval", content)) == []
        assert export(retrieval_run_lines(target.retrieval_runs.get())) == out
    again = import_file(campaign, "retrieval", out)
    assert (again.state, again.report["counts"]["rankings already there"]) == (Import.State.DONE, 2)
    assert RankedSegment.everything.count() == 6


def test_a_further_file_may_bring_more_topics_but_no_other_ranking(campaign, import_file, rows):
    import_file(campaign, "retrieval", ranking("bm25", t1="d1 d2"))
    assert import_file(campaign, "retrieval", ranking("bm25", t2="d1")).state == Import.State.DONE
    assert RetrievalRun.objects.get().ranked.count() == 3
    before = rows()
    refused = import_file(campaign, "retrieval", ranking("bm25", t1="d2 d1"))
    expected = "the ranking of bm25 for t1 as it is loaded already"
    assert told(refused) == [(1, "topic", "another ranking for t1", expected)]
    assert rows() == before


def test_a_run_of_several_batches(empty_campaign, import_file):
    import_file(empty_campaign, "topics", "".join(f"t{n}\ttitle\n" for n in range(50)))
    content = "".join(f"t{n} Q0 d{rank} {rank} {-rank} r\n" for n in range(50) for rank in range(30))
    done = import_file(empty_campaign, "retrieval", content)
    assert done.report["counts"]["ranked segments added"] == 1_500
    assert sorted(pool_lines(empty_campaign)) == sorted(f"t{n} d{k}\n" for n in range(50) for k in range(20))


def test_the_pool_is_the_first_of_each_run(campaign, import_file, olga):
    import_file(campaign, "retrieval", ranking("one", t1="d1 d2 d3", t2="d5"))
    import_file(campaign, "retrieval", ranking("two", t1="d2 D9 d1"))
    # Ranks from 0, with gaps, not in order.
    import_file(campaign, "retrieval", "t1 Q0 d8 9 1 three\nt1 Q0 d7 0 3 three\nt1 Q0 d6 4 2 three\n")
    everything = ["t1 D9", "t1 d1", "t1 d2", "t1 d3", "t1 d6", "t1 d7", "t1 d8", "t2 d5"]
    assert export(pool_lines(campaign)).splitlines() == everything
    change_protocol(campaign=campaign, settings={"pool_depth": 2}, acting_user=olga)
    assert export(pool_lines(campaign)).splitlines() == ["t1 D9", "t1 d1", "t1 d2", "t1 d6", "t1 d7", "t2 d5"]
    loaded = queries.loaded(campaign)
    assert (loaded["retrieval_runs"], loaded["pooled"]) == (3, 6)
    [gap] = [gap for gap in gaps(campaign) if gap.name == "pooled"]
    assert (gap.size, gap.names) == (3, ["D9", "d6", "d7"])


def test_what_an_unfinished_import_brought_is_in_no_pool(campaign, import_file):
    import_file(campaign, "retrieval", ranking("one", t1="d1"))
    second = import_file(campaign, "retrieval", ranking("one", t2="d2"))
    assert export(pool_lines(campaign)) == "t1 d1\nt2 d2\n"
    Import.objects.filter(pk=second.pk).update(state=Import.State.RUNNING)
    assert export(pool_lines(campaign)) == "t1 d1\n"
    assert queries.loaded(campaign)["pooled"] == 1
