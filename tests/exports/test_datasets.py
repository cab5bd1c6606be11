"""Exports and releases are data sets, as those of ir_datasets are."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from assay import datasets
from assay.datasets import Assignment, Doc, Nugget, Qrel, Query, ScoredDoc, Support
from assessor.campaigns.models import Campaign
from tests.api.conftest import study as study

QRELS = "t1 0 d1 1\nt1 0 d2 -1\nt2 0 d1 0\nt2 0 d2 2\nt2 0 d3 3\n"
KINDS = {"queries", "docs", "qrels", "scoreddocs", "nuggets", "assignments", "support"}


@pytest.fixture
def folder(study: Campaign, import_file: Any, tmp_path: Path) -> Path:
    """What is exported of a study, a file of each kind, some of them packed, and others beside them."""
    import_file(study, "retrieval", "t1 Q0 d1 1 2.5 bm25\nt1 Q0 d2 2 -1e-3 bm25\n", name="bm25")
    folder = tmp_path / "exported"
    folder.mkdir()
    for words in (
        ("topics", "--form", "jsonl"),
        ("segments",),
        ("qrels", "--source", "NIST"),
        ("retrieval_run", "--run", "bm25"),
        ("nuggets", "--condition", "N people", "--form", "lineage"),
        ("assignments", "--condition", "A people on people"),
        ("support", "--condition", "S people"),
        ("scores", "--condition", "S people", "--allow-incomplete"),
        ("run", "--run", "r1"),
    ):
        call_command(f"export_{words[0]}", "study", *words[1:], "-o", str(folder / words[0]))
    (folder / "qrels.gz").write_bytes(gzip.compress((folder / "qrels").read_bytes()))
    (folder / "qrels").unlink()
    (folder / "notes.docx").write_bytes(b"PK\x03\x04 what I think\n")
    return folder


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return path


@pytest.mark.parametrize("opened", [str, zipped])
def test_a_folder_or_its_zip_is_read_as_a_data_set(folder: Path, opened: Any):
    data = datasets.load(opened(folder))
    assert {what: len(names) for what, names in data.files.items()} == dict.fromkeys(KINDS, 1)
    assert data.files["qrels"] == ["qrels.gz"]
    assert list(data.queries_iter())[:2] == [Query("t1", "why do cats purr"), Query("t2", "how is glass recycled")]
    assert next(data.docs_iter()) == Doc("d1", "Cats purr when content. Some purr when in pain.")
    assert list(data.qrels_iter())[:2] == [Qrel("t1", "d1", 3, "0"), Qrel("t1", "d2", 1, "0")]
    assert list(data.scoreddocs_iter()) == [ScoredDoc("t1", "d1", 2.5), ScoredDoc("t1", "d2", -0.001)]
    assert list(data.nuggets_iter())[:2] == [Nugget("t1", "a", "vital"), Nugget("t1", "b", None)]
    labels = [
        ("r1", "a", "vital", "support"),
        ("r1", "b", None, "not_support"),
        ("r2", "a", "vital", "partial_support"),
        ("r2", "b", None, "support"),
    ]
    assert list(data.assignments_iter())[:4] == [Assignment("t1", *told) for told in labels]
    assert list(data.support_iter())[:3] == [
        Support("t1", "r1", 0, "d1", "full"),
        Support("t1", "r2", 0, "d1", "full"),
        Support("t2", "r1", 0, "d1", "full"),
    ]


def test_a_release_is_read_without_its_practice(study: Campaign, tmp_path: Path):
    path = tmp_path / "release.zip"
    call_command("export_release", "study", "-o", str(path))
    data = datasets.load(path)
    assert {query.query_id for query in data.queries_iter()} == {"t1", "t2"}
    assert data.files["support"] == ["support.S_model.jsonl", "support.S_people.jsonl"]
    assert len(data.files["assignments"]) == 3
    with pytest.raises(ValueError, match=r"^Name one of the files of support: support.S_model.jsonl, support.S_peopl"):
        next(data.support_iter())
    assert [one.support for one in data.support_iter("support.S_model.jsonl")] == ["none", "none"]
    of_people = next(name for name in data.files["nuggets"] if "people" in name)
    assert [(one.query_id, one.text) for one in data.nuggets_iter(of_people)] == [("t1", "a"), ("t1", "b")]
    with pytest.raises(ValueError, match=r"^Name one of the files of scoreddocs: there is none\.$"):
        next(data.scoreddocs_iter())


def test_what_is_missing_is_none_and_a_bad_line_ends_what_was_good(tmp_path: Path):
    """What stands before it is given out first: nothing reads a whole file before its first record."""
    nuggets = '[{"text": "a", "importance": "vital"}]'
    line = (
        f'{{"query": "q", "qid": "t1", "nuggets": {nuggets}, "run_id": "r1", "answer_text": "x", "response_length": 1}}'
    )
    (tmp_path / "labels.jsonl").write_text(f"{line}\n{{broken\n")
    (tmp_path / "grades").write_text(f"{QRELS}t2 0 d4 x\nt2 0 d5\n")
    data = datasets.load(tmp_path)
    labels, grades = data.assignments_iter(), data.qrels_iter("grades")
    assert next(labels) == Assignment("t1", "r1", "a", "vital", None)
    with pytest.raises(ValueError, match=r"^labels.jsonl, line 2: found Expecting property name"):
        next(labels)
    assert [next(grades).relevance for _ in range(5)] == [1, -1, 0, 2, 3]
    with pytest.raises(ValueError, match=r"^grades, line 6: grade: found x; expected"):
        next(grades)
    with pytest.raises(FileNotFoundError):
        datasets.load(tmp_path / "nothing")
