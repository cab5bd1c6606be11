"""Good files of every form that the readers take, about the campaign that all tests share."""

import json
import os
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tests.assignment import lines as assignment
from tests.imports.test_run_forms import rag25, rag26, ragtime
from tests.nuggets.test_imports import line as nuggets
from tests.nuggets.test_imports import with_lineage
from tests.support import lines as support

# The published files, which are no part of the project: in the long run they are changed too, where they are there.
DATA = Path(os.environ.get("ASSAY_FUZZ_DATA", Path(__file__).parents[3] / "shared" / "data"))


class Kind(NamedTuple):
    """What an importer takes: files of several forms, and what it is told besides."""

    files: dict[str, bytes]
    options: dict[str, str]


def _json(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _rag24(qid: str) -> dict[str, Any]:
    sentences = [{"text": "Cats purr.", "citations": [0, 1]}, {"text": "Why, nobody knows.", "citations": []}]
    told = {"run_id": "r", "topic_id": qid, "topic": "why", "references": ["d1", "d2"], "response_length": 5}
    return told | {"answer": sentences}


_ID = "0b0e7b3c-8a3e-4c58-9d4a-2f6f0e9f8a11"
_QUESTIONS = {"Why do cats purr?": ["OR", {"to heal": ["d1"]}]}
_BANK = {"query_id": "t1", "title_query": "why", "format_version": "v3", "claim_bank": {}}
_BANK["nugget_bank"] = {"Why?": {"question": "Why?", "question_id": "1", "query_id": "t1", "answers": {}}}
_REQUEST = {"query": {"qid": "t1", "text": "why"}, "candidates": [{"docid": "d6", "score": 1.5, "judgment": 3}]}
_REQUEST["candidates"][0]["doc"] = {"docid": "d6", "segment": "Cats have nine lives."}  # type: ignore[index]
_MADE = {"by": "people", "invalid_labels": "missing"}

KINDS: dict[str, Kind] = {
    "topics": Kind(
        {
            "tsv": b"t1\twhy do cats purr\nt7\thow many lives\n",
            "jsonl": _json({"id": "t8", "title": "why"}, {"id": "t9", "title": "how"}),
            "ragtime": _json(
                {"request_id": "t6", "title": "how", "limit": 2000, "background": "b", "collection_ids": ["c"]}
            ),
        },
        {},
    ),
    "segments": Kind(
        {
            "jsonl": _json(
                {"docid": "d7", "url": "u", "title": "A", "segment": "Cats.", "start_char": 0, "end_char": 5}
            ),
            "body": _json({"docid": "d8", "headings": "h", "body": "Dogs."}, {"docid": "d9", "contents": "x"}),
            "request": _json(_REQUEST),
        },
        {"source": "Mia's", "by": "model"},
    ),
    "qrels": Kind({"nist": b"t1 0 d1 3\nt1 1 d2 1\nt2 5 d9 0\n"}, {"source": "New", "by": "people"}),
    "runs": Kind(
        {
            "rag24": _json(_rag24("t1"), _rag24("t2")),
            "rag25": _json(rag25("t1"), rag25("t2", sentences=[{"text": "x", "citations": ["d2"]}])),
            "rag26": _json(rag26("t1"), rag26("t2")),
            "ragtime": _json(
                ragtime(
                    "t1",
                    documents={
                        "d1": {
                            "id": "d1",
                            "text": "Cats purr when content. Some purr when in pain.",
                            "title": "Purring",
                            "url": "",
                        }
                    },
                )
            ),
            "neuclir": _json(
                ragtime(
                    "t1",
                    responses=[{"text": "a", "citations": ["d1"]}, {"text": "b", "citations": [0]}],
                    references=["d1"],
                )
            ),
        },
        {},
    ),
    "run_list": Kind(
        {
            "csv": b'tag,team,task,type,priority,aliases,generator\nteam.one,"T, U",RAG,manual,1,a b,meta\n'
            b"team.two,U,AG,automatic,,,\n"
        },
        {},
    ),
    "retrieval": Kind({"trec": b"t1 Q0 d1 1 2.5 bm25\nt1 Q0 d2 2 1e-3 bm25\nt2 Q0 d1 0 7 bm25\n"}, {}),
    "nuggets": Kind(
        {
            "plain": _json(nuggets(), nuggets("t2", [{"text": "Melted", "source": "original", "trace": [1]}])),
            "lineage": _json(
                nuggets(
                    nuggets=[with_lineage("purring heals", _ID, evidence=[{"docid": "d1", "start": 0, "end": 4}])],
                    ancestors=[],
                )
            ),
            "v3": _json(_BANK),
            "questions": _json(_QUESTIONS),
        },
        {"condition": "Imported", **_MADE},
    ),
    "assignments": Kind(
        {
            "nist": _json(
                assignment.line(), assignment.line("t2", "r2", [assignment.nugget("melted", "okay", "failed")])
            )
        },
        {"condition": "Assigned", **_MADE},
    ),
    "support": Kind(
        {
            "nist": _json(support.usual(), support.line("t2", "r1", support.cites("Melted.", d5="0"))),
            "nan": _json(support.line("t1", "r2", support.cites(support.NAN, d1="1"))),
            "other": _json(support.spelt_otherwise(support.usual())),
        },
        {"condition": "Judged", **_MADE},
    ),
    "plan": Kind(
        {
            "csv": b"topic,nuggets,questions,assignment,support,relevance,assessor,runs,reason\n"
            b"t1,ManualNuggets,,,,,anna,,first\nt2,ManualNuggets,,,,,*,,\n",
            "rules": b"topic,assignment,assessor,runs\nt1,Manual/Manual,anna,priority<=1\n",
        },
        {},
    ),
}

TABLES = {
    "csv": b"run_id,task,vstrict,v,length\nteam.one,AG,0.5,0.25,120.25\nteam.two,RAG,,0.5,80\n",
    "topics": b"run_id,topic,v\nteam.one,t1,0.5\nteam.one,t2,0\nteam.two,t1,1\nteam.two,all,1\n",
    "jsonl": _json(
        {"qid": "t1", "run_id": "a", "vital_score": 0.5, "all_score": None},
        {"qid": "all", "run_id": "a", "vital_score": 1},
    ),
    "tot": b"r1 v t1 0.5\nr1 v t2 0.25\nr1 v all 0.375\nr2 v t1 1\n",
    "ir_measures": b"r1 t1 v 0.5\nr1 all v 0.5\nr2 t1 v 0.25\nr2 all v 0.25\n",
}

_PUBLISHED = {
    "topics": ("trec-rag-2024/topics.rag24.test.txt",),
    "qrels": ("trec-rag-2024/2024-retrieval-qrels.txt", "trec-rag-2024/2024-retrieval-conditions-qrels.txt"),
    "runs": ("pyterrier-nuggetizer/answers.command-r-plus.jsonl",),
    "nuggets": ("pyterrier-nuggetizer/nuggets.mistral.jsonl",),
    "assignments": (
        "trec-rag-2024/nugget_assignment.20241108.jl",
        "pyterrier-nuggetizer/assignments.command-r-plus.jsonl",
    ),
    "support": ("trec-rag-2024/final.citation_judgments_with_prediction.20241025.jsonl",),
    "tables": ("trec-rag-2024/published_table6_edits_manual.csv", "trec-rag-2024/published_table7_auto_auto.csv"),
}


def published(kind: str) -> list[bytes]:
    """Return the first lines of the published files of a kind; nothing where they are not there."""
    return [_head(DATA / name) for name in _PUBLISHED.get(kind, ()) if (DATA / name).is_file()]


def _head(path: Path) -> bytes:
    with path.open("rb") as opened:
        return b"".join(islice(opened, 3))
