"""Every reader on changed files: it takes a file or says what is wrong where, and of a refused file nothing is left."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from assessor.archive.actions import restore
from assessor.archive.errors import ArchiveError
from assessor.archive.reader import verify
from assessor.campaigns.condition_kind import kinds_with_screen
from assessor.campaigns.models import Campaign, Condition, Import
from assessor.exports.verification import verify as verify_bundle
from assessor.imports import importer
from assessor.llm.job_kind import job_prompts
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PromptSetError
from assessor.work.guidelines import as_html, differences, first_text
from assignment.actions import create_manual_assign
from metaeval.actions import ComparisonError, TableError, import_table
from tests.archive.campaigns import forget_everything, written
from tests.archive.test_hostile import sealed
from tests.examples import IS_LONG, examples
from tests.fuzz.database import Written, fingerprint, outside_vocabulary, watched
from tests.fuzz.files import files, zips
from tests.fuzz.profile import fuzz
from tests.fuzz.seeds import KINDS, TABLES, published

FILLED = {"query": "q", "passages": "p", "passage": "p", "nuggets": "[]", "answer": "a", "sentence": "s"}
FILLED |= {
    "count": "1",
    "most": "30",
    "words": "12",
    "background": "b",
    "questions": "[]",
    "question": "q",
    "gold": "g",
    "nugget": "n",
}
FILLED |= {"winner": "w", "loser": "l", "first": "f", "second": "s", "choices": "c", "verdicts": "1, 2"}
FILLED |= {"document": "d", "previous": "p", "gold": "g"}
_OWN_RECORD = {Import}


@pytest.fixture
def study(campaign: Campaign, condition: Condition, anna: Any, import_file: Any) -> Campaign:
    """The campaign with runs, and with people's conditions to be planned."""
    for tag in ("team.one", "team.two"):
        answer = {"run_id": tag, "topic_id": "t1", "references": ["d1"], "answer": [{"text": "Hm.", "citations": [0]}]}
        assert import_file(campaign, "runs", [answer], name=tag).state == "done"
    create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)
    for content in published("topics") if IS_LONG else ():
        assert import_file(campaign, "topics", content).state == "done"
    return campaign


def tells_what_is_wrong(report: dict[str, Any]) -> None:
    """Assert that problems name what was found where and what was expected, in a few visible characters."""
    listed = report["errors"] + [problem for warning in report["warnings"] for problem in warning["listed"]]
    for problem in listed:
        assert problem["expected"], problem
        assert type(problem["line"]) is int
        assert problem["line"] >= 0
        words = problem["field"] + problem["found"] + problem["expected"]
        assert words.isprintable(), problem
        assert len(words) < 900, problem
    json.dumps(report, ensure_ascii=False, allow_nan=False).encode()


def nothing_is_left(changes: Written, before: dict[str, str], but: set[Any]) -> None:
    """Assert that every table holds what it held before, where anything was written at all."""
    if set(changes.models()) - but:
        now = fingerprint()
        names = {model._meta.label_lower for model in but}
        assert {name for name in before if before[name] != now[name]} - names == set()


def imported(campaign: Campaign, kind: str, path: Path, before: dict[str, str], data: bytes) -> str:
    """Import a file, check what holds for all, and undo it; return what came of it."""
    path.write_bytes(data)
    with transaction.atomic():
        with watched() as changes:
            made = importer.new_import(
                campaign=campaign,
                kind=kind,
                file_name=path.name,
                options=KINDS[kind].options,
                person=None,
                check_only=False,
            )
            importer.run(made, path)
        tells_what_is_wrong(made.report)
        if made.state == Import.State.DONE:
            assert made.report["errors"] == []
            assert outside_vocabulary(changes.models()) == []
            if hashlib.sha256(data).digest()[0] < 12:  # of some, whether all that came in can go out again
                written(campaign)
        else:
            assert made.state == Import.State.REFUSED
            assert made.report["errors"], made.report
            nothing_is_left(changes, before, _OWN_RECORD)
        transaction.set_rollback(True)
    return str(made.state)


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files_are_imported_or_refused(kind: str, study: Campaign, tmp_path: Path):
    path, before, found = tmp_path / "file", fingerprint(), []
    path.write_bytes(b"")
    seeds = dict(KINDS[kind].files)
    if IS_LONG:
        seeds |= {f"published {at}": data for at, data in enumerate(published(kind), 1)}
    for form, seed in seeds.items():

        def check(data: bytes) -> str:
            return imported(study, kind, path, before, data)

        most = examples(4, 1_800 // len(seeds))
        found += fuzz("files", f"{kind} {form}", files([seed]), check, most)
    assert found == [], "\n\n".join(found)


def test_the_good_files_are_good(study: Campaign, tmp_path: Path):
    before = fingerprint()
    refused = {
        (kind, form)
        for kind, told_of in KINDS.items()
        for form, data in told_of.files.items()
        if imported(study, kind, tmp_path / "file", before, data) != "done"
    }
    # Banks of questions are known, and told to be what nothing here takes.
    assert refused == {("nuggets", "v3"), ("nuggets", "questions")}


def test_changed_score_tables_are_kept_or_refused(study: Campaign, tmp_path: Path):
    path, before, found = tmp_path / "table.csv", fingerprint(), []

    def check(data: bytes) -> str:
        path.write_bytes(data)
        report = None
        with transaction.atomic():
            with watched() as changes:
                try:
                    import_table(
                        campaign=study, name="", path=path, file_name=path.name, run="file-run", acting_user=None
                    )
                    came_to = "kept"
                except TableError as error:
                    came_to, report = "refused", error.report
                except ComparisonError as error:
                    came_to = f"refused: {error}"
            if came_to != "kept":
                nothing_is_left(changes, before, set())
            transaction.set_rollback(True)
        if report:
            assert report.errors
            tells_what_is_wrong(report.as_dict())
        return came_to

    seeds = TABLES | {f"published {at}": data for at, data in enumerate(published("tables") if IS_LONG else (), 1)}
    for form, seed in seeds.items():
        most = examples(4, 1_800 // len(seeds))
        found += fuzz("files", f"score table {form}", files([seed]), check, most)
    assert found == [], "\n\n".join(found)


def refusal(do: Callable[[], object]) -> str:
    """Return why an archive is refused, or nothing."""
    try:
        do()
    except ArchiveError as error:
        return str(error)
    return ""


def test_changed_archives_are_restored_or_refused(campaign: Campaign, condition: Condition, tmp_path: Path):
    seed, path = written(campaign), tmp_path / "archive.zip"
    forget_everything()
    before = fingerprint()

    def reseal(members: dict[str, bytes]) -> dict[str, bytes]:
        try:
            return sealed(members)
        except (ValueError, KeyError, TypeError):
            return members

    def check(data: bytes) -> str:
        path.write_bytes(data)
        with transaction.atomic():
            unfit = refusal(lambda: verify(path))
            with watched() as changes:
                refused = refusal(lambda: restore(path))
            if refused:
                nothing_is_left(changes, before, set())
            else:
                assert outside_vocabulary(changes.models()) == []
                written(Campaign.objects.get())
            transaction.set_rollback(True)
        assert refused == unfit or not unfit  # a database may refuse more, never less
        return "refused" if refused else "restored"

    assert check(seed) == "restored"
    found = fuzz("files", "archive", zips(seed, reseal), check, examples(6, 1_500))
    assert found == [], "\n\n".join(found)


def test_changed_bundles_are_no_longer_what_was_frozen(study: Campaign, import_file: Any, tmp_path: Path):
    line = {"query": "", "qid": "t1", "nuggets": [{"text": "purring heals", "importance": "vital"}]}
    import_file(study, "nuggets", [line], condition="Frozen", by="people")
    call_command("freeze_condition", "study", "--condition=Frozen", stdout=io.StringIO())
    path = tmp_path / "bundle.zip"
    call_command("export_frozen", "study", "--condition=Frozen", f"-o={path}", stdout=io.StringIO())
    seed = path.read_bytes()

    def check(data: bytes) -> str:
        path.write_bytes(data)
        verdict = verify_bundle(path)
        assert bool(verdict.problems) == (data != seed)
        assert "".join(verdict.problems).replace(str(path), "").isprintable(), verdict.problems
        return "refused" if verdict.problems else "verified"

    assert check(seed) == "verified"
    found = fuzz("files", "frozen bundle", zips(seed, dict), check, examples(10, 1_500))
    assert found == [], "\n\n".join(found)


def test_changed_prompts_are_used_or_refused(settings: Any, tmp_path: Path):
    settings.PROMPT_SETS = tmp_path
    folder, own, found = tmp_path / "changed", prompt_set("assay-1"), []
    folder.mkdir()
    for question in job_prompts():
        for name, text in own.texts.items():
            (folder / f"{name}.md").write_text(text)

        def check(data: bytes, question: str = question) -> str:
            (folder / f"{question}.md").write_bytes(data)
            try:
                return "used" if prompt_set("changed").messages(question, FILLED) else "used, and says nothing"
            except PromptSetError as error:
                reason = str(error)
            assert f"changed/{question}.md" in reason
            return "refused"

        seed = own.texts[question].encode()
        found += fuzz("files", f"prompts {question}", files([seed]), check, examples(10, 300))
    assert found == [], "\n\n".join(found)


def test_changed_guidelines_are_shown_as_text():
    found = []
    for kind in (kind.name for kind in kinds_with_screen()):
        text = first_text(kind)

        def check(data: bytes, text: str = text) -> str:
            changed = data.decode(errors="replace")
            html = as_html.__wrapped__(changed).lower()
            assert not any(odd in html for odd in ("<script", "<img", "<iframe", 'href="javascript', 'href="data'))
            differences(text, changed)
            return "shown"

        found += fuzz("files", f"guidelines {kind}", files([text.encode()]), check, examples(10, 300))
    assert found == [], "\n\n".join(found)
