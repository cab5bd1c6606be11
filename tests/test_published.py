"""NIST's files of the TREC 2024 RAG track, which are not ours to keep here: what goes out after they came in."""

from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import settings

from bench.check_values import main
from tests.llm.house import house

DATA = settings.BASE_DIR.parent / "shared" / "data"
FILES = DATA / "trec-rag-2024"
NUGGETS, SUPPORT = "nugget_assignment.20241108.jl", "final.citation_judgments_with_prediction.20241025.jsonl"
# By the command that writes a file: the beginning of its sha256.
SUMS = {
    "export_assignments nuggets --condition=NIST": "453567401206f1b5",
    "export_nuggets nuggets --condition=NIST_nuggets": "b44e7690a2fe5061",
    "export_scores nuggets --condition=NIST": "9557bc50967e470f",
    "export_scores nuggets --condition=NIST --form topics": "f64d9154e4e5a196",
    "export_support support --condition=NIST": "a303c9927bebedb4",
    "export_scores support --condition=NIST": "2b5ce4bb6b6abf72",
    "export_scores support --condition=NIST --policy answered": "553a092e0d993f72",
    "export_scores support --condition=NIST --form topics": "36ac05bf2b2538ba",
}


@pytest.mark.django_db
@pytest.mark.skipif(not FILES.is_dir(), reason="needs NIST's files beside the project")
def test_the_files_made_of_them_are_the_same_as_before(tmp_path: Path):
    with house(tmp_path / "data", "embedded://") as study:
        for campaign, command, name in (
            ("nuggets", "import_assignments", NUGGETS),
            ("support", "import_support", SUPPORT),
        ):
            further = ["--nuggets=NIST_nuggets"] if campaign == "nuggets" else []
            study.manage_all(
                [
                    ["create_campaign", campaign],
                    ["import_topics", campaign, str(FILES / "topics.rag24.test.txt")],
                    [command, campaign, str(FILES / name), "--condition=NIST", "--by=people", *further],
                ]
            )
        files = {command: tmp_path / str(number) for number, command in enumerate(SUMS)}
        study.manage_all([[*command.split(), f"--output={file}"] for command, file in files.items()])
    found = {command: sha256(file.read_bytes()).hexdigest()[:16] for command, file in files.items()}
    assert found == SUMS


@pytest.mark.skipif(not FILES.is_dir(), reason="needs NIST's files beside the project")
def test_the_statistics_give_the_published_values(capsys: pytest.CaptureFixture[str]):
    assert main(DATA) == 0, capsys.readouterr().out
