"""Archives that are broken or mean harm: refused with file, line and field, and nothing changes."""

import base64
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from assessor.accounts.models import Person
from assessor.archive import container
from assessor.archive.actions import restore
from assessor.archive.errors import ArchiveError
from assessor.archive.reader import verify
from assessor.archive.registry import KEPT
from assessor.campaigns.models import Campaign
from assessor.exports.models import Blob, Chunk
from assessor.exports.signatures import KEY
from assessor.formats.values import to_json
from metaeval.models import Calibration
from tests.archive.campaigns import forget_everything, make_everything, written
from tests.conftest import Importer

Files = dict[str, bytes]
Change = Callable[[Files], None]


_made: Files = {}


@pytest.fixture
def files(request: pytest.FixtureRequest, db: None) -> Files:
    """The files of a small campaign's archive, which is in this database no longer. It is made once."""
    if not _made:
        with zipfile.ZipFile(io.BytesIO(written(request.getfixturevalue("campaign")))) as opened:
            _made.update({info.filename: opened.read(info) for info in opened.infolist()})
        forget_everything()
    return dict(_made)


def packed(files: Files, path: Path, how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", how) as out:
        for name, data in files.items():
            out.writestr(name, data)
    return path


def manifest_of(files: Files) -> dict[str, Any]:
    return json.loads(files["manifest.json"])


def sealed(files: Files) -> Files:
    """Return the files with a manifest that says what they are now: whoever means harm knows how to count."""
    manifest = manifest_of(files)
    for told in manifest["files"]:
        data = files[told["name"]]
        told |= {"rows": data.count(b"\n"), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return files | {"manifest.json": json.dumps(manifest).encode()}


def with_rows(files: Files, model: str, change: Callable[[list[dict[str, Any]]], None]) -> Files:
    """Return the files with the rows of a model changed."""
    name = f"{model}.jsonl"
    rows = [json.loads(line) for line in files[name].splitlines()]
    change(rows)
    return sealed(files | {name: "".join(f"{to_json(row)}\n" for row in rows).encode()})


def setting(at: int, **fields: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[at].update(fields)


def nothing_is_there() -> None:
    tables = {kept.model._meta.db_table for kept in KEPT}
    any_row = " union all ".join(f"select '{table}' where exists (select 1 from {table})" for table in sorted(tables))
    with connection.cursor() as cursor:
        cursor.execute(any_row)
        assert cursor.fetchall() == []


def refused(files: Files, tmp_path: Path) -> str:
    """Return why an archive is refused, both checked and restored; nothing changes."""
    path = packed(files, tmp_path / "hostile.zip")
    with pytest.raises(ArchiveError) as checked:
        verify(path)
    with pytest.raises(ArchiveError) as tried:
        restore(path)
    assert str(tried.value) == str(checked.value)
    nothing_is_there()
    return str(checked.value)


def test_repacked_as_it_is_it_can_be_restored(files: Files, tmp_path: Path):
    campaign = restore(packed(sealed(files), tmp_path / "same.zip", zipfile.ZIP_STORED))
    assert campaign.topics.count() == 2
    again = written(campaign)
    with zipfile.ZipFile(io.BytesIO(again)) as opened:
        assert {info.filename: opened.read(info) for info in opened.infolist()} == files


@pytest.mark.parametrize(
    ("model", "at", "fields", "expected"),
    [
        ("campaigns.topic", 1, {"qid": 7}, "line 2, qid: found 7; expected text"),
        ("campaigns.topic", 0, {"qid": "q" * 257}, "expected at most 256 characters"),
        ("campaigns.topic", 0, {"qid": None}, "line 1, qid: found None; expected a value"),
        ("campaigns.topic", 0, {"title": "a\x00b"}, "expected text without NUL characters"),
        ("campaigns.topic", 0, {"form": "odd"}, "line 1, form: found odd; expected one of tsv, jsonl, request"),
        ("campaigns.topic", 0, {"is_practice": 1}, "is_practice: found 1; expected true or false"),
        ("campaigns.topic", 0, {"campaign": 2}, "(there is no line 2 of campaigns.campaign); expected records of"),
        ("campaigns.topic", 0, {"campaign": 0}, "there is no line 0 of campaigns.campaign"),
        ("campaigns.topic", 0, {"campaign": True}, "there is no line True of campaigns.campaign"),
        ("campaigns.topic", 0, {"campaign": "1"}, "there is no line 1 of campaigns.campaign"),
        ("campaigns.topic", 0, {"campaign": None}, "line 1, campaign: found None; expected a reference"),
        ("campaigns.grade", 2, {"grade": -3}, "line 3, grade: found -3; expected Ensure this value is greater than"),
        ("campaigns.grade", 2, {"grade": 6}, "line 3, grade: found 6; expected Ensure this value is less than or"),
        ("campaigns.qrelssource", 0, {"max_grade": 6}, "line 1, max_grade: found 6; expected one of 3, 4, 5"),
        ("campaigns.grade", 2, {"grade": 2.0}, "line 3, grade: found 2.0; expected a whole number"),
        ("campaigns.grade", 2, {"grade": 10**30}, "expected a whole number from -32768 to 32767"),
        ("campaigns.import", 0, {"created_at": "2026-01-01"}, "created_at: found 2026-01-01; expected a time as"),
        ("campaigns.campaign", 0, {"slug": "other"}, "slug: found other; expected study, says manifest.json"),
        ("accounts.person", 0, {"username": "a b<c>"}, "accounts.person.jsonl, line 1, username: found a b<c>"),
        ("campaigns.membership", 0, {"role": "administrator"}, "role: found administrator; expected"),
    ],
)
def test_values_that_fit_no_column(files: Files, tmp_path: Path, model, at, fields, expected):
    message = refused(with_rows(files, model, setting(at, **fields)), tmp_path)
    assert message.startswith(f"{model}.jsonl, line {at + 1}")
    assert expected in message


def test_fields_that_are_too_many_or_too_few(files: Files, tmp_path: Path):
    more = with_rows(files, "campaigns.topic", setting(0, secret=1))
    assert "line 1: found the keys import_record, campaign" in refused(more, tmp_path)
    manifest = manifest_of(files)
    for told in manifest["files"]:
        if told["name"] == "campaigns.topic.jsonl":
            told["fields"].append("secret")
    unknown = files | {"manifest.json": json.dumps(manifest).encode()}
    assert refused(unknown, tmp_path).startswith("campaigns.topic.jsonl, secret: found the field; expected fields that")


def test_a_key_of_the_administrators_is_none_that_an_archive_writes(files: Files, tmp_path: Path):
    superuser = with_rows(files, "accounts.person", setting(0, is_superuser=True))
    assert "line 1: found the keys username" in refused(superuser, tmp_path)


@pytest.mark.parametrize(("model", "column", "default"), [("topic", "is_practice", False), ("run", "generator", "")])
def test_a_column_that_is_newer_than_the_archive_gets_its_default(
    whole: Campaign, tmp_path: Path, model: str, column: str, default: object
):
    older = with_rows(unzipped(whole), f"campaigns.{model}", lambda rows: [row.pop(column) for row in rows])
    manifest = manifest_of(older)
    for told in manifest["files"]:
        if told["name"] == f"campaigns.{model}.jsonl":
            told["fields"].remove(column)
    older["manifest.json"] = json.dumps(manifest).encode()
    campaign = restore(packed(older, tmp_path / "older.zip"))
    assert set(getattr(campaign, f"{model}s").values_list(column, flat=True)) == {default}


def test_a_calibration_that_is_older_than_its_steps_has_one(whole: Campaign, tmp_path: Path):
    found: list[dict[str, Any]] = []

    def without_steps(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            [step] = row["result"].pop("steps")
            del step["name"], step["title"], row["result"]["uncompared"]
            row["result"] |= step
            found.append(row["result"])

    restore(packed(with_rows(unzipped(whole), "metaeval.calibration", without_steps), tmp_path / "older.zip"))
    made = [one.result for one in Calibration.objects.order_by("pk")]
    assert len(made) == 2
    for result, older in zip(made, found, strict=True):
        assert result.keys() == {"labels", "threshold", "left_out", "steps", "uncompared"}
        [step] = result["steps"]
        assert (step.pop("name"), step.pop("title"), result["uncompared"]) == ("", "", [])
        assert {name: result[name] for name in ("labels", "threshold", "left_out")} | step == older


def test_a_model_that_is_newer_than_the_archive_has_no_records(files: Files, tmp_path: Path):
    manifest = manifest_of(files)
    manifest["files"] = [told for told in manifest["files"] if told["name"] != "metaeval.figure.jsonl"]
    del files["metaeval.figure.jsonl"]
    files["manifest.json"] = json.dumps(manifest).encode()
    assert restore(packed(files, tmp_path / "older.zip")).slug == "study"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"version": 8}, "manifest.json, version: found 8; expected at most 7: it was written by a newer Assay."),
        ({"version": 1}, "manifest.json, version: found 1; expected 7: Assay at commit fbb1bdc reads it."),
        ({"version": 2}, "manifest.json, version: found 2; expected 7: Assay at commit 69736ad reads it."),
        ({"version": 4}, "manifest.json, version: found 4; expected 7."),
        ({"version": 5}, "manifest.json, version: found 5; expected 7: Assay at commit 343bd20 reads it."),
        ({"version": 6}, "manifest.json, version: found 6; expected 7: Assay at commit 8581206 reads it."),
        ({"version": True}, "manifest.json, version: found True; expected a value of type int."),
        ({"format": "other"}, "manifest.json, format: found other; expected assay-archive."),
        ({"files": {}}, "manifest.json, files: found {}; expected a value of type list."),
        ({"files": []}, "expected the files that are there, each of them."),
        (
            {"files": [7]},
            "manifest.json, files[0]: found 7; expected an object with name, rows, bytes, sha256, fields.",
        ),
    ],
)
def test_manifests_that_say_something_else(files: Files, tmp_path: Path, fields, expected):
    files["manifest.json"] = json.dumps(manifest_of(files) | fields).encode()
    assert refused(files, tmp_path).endswith(expected)


def test_an_unknown_model(files: Files, tmp_path: Path):
    manifest = manifest_of(files)
    manifest["files"][0]["name"] = "auth.permission.jsonl"
    files["auth.permission.jsonl"] = files.pop("accounts.person.jsonl")
    files["manifest.json"] = json.dumps(manifest).encode()
    expected = "found auth.permission.jsonl; expected a model that this version of Assay knows."
    assert refused(files, tmp_path) == f"manifest.json, files[0].name: {expected}"


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "campaigns.topic.jsonl/..", "run.sh", "a\\b.c.jsonl"]
)
def test_names_that_lead_elsewhere(files: Files, tmp_path: Path, name: str):
    assert "expected files named as app.model.jsonl." in refused(files | {name: b"x"}, tmp_path)


def test_sums_and_counts_that_are_not_those_of_the_files(files: Files, tmp_path: Path):
    topics = files["campaigns.topic.jsonl"]
    changed = topics.replace(b"cats", b"dogs")
    assert refused(files | {"campaigns.topic.jsonl": changed}, tmp_path).startswith(
        f"campaigns.topic.jsonl: found sha256 {hashlib.sha256(changed).hexdigest()}; expected "
    )
    shorter = topics[: topics.index(b"\n") + 1]
    assert f"found {len(shorter):,} bytes; expected {len(topics):,}, says" in refused(
        files | {"campaigns.topic.jsonl": shorter}, tmp_path
    )
    manifest = manifest_of(files)
    [told] = [told for told in manifest["files"] if told["name"] == "campaigns.topic.jsonl"]
    told["rows"] = 3
    files["manifest.json"] = json.dumps(manifest).encode()
    assert refused(files, tmp_path) == "campaigns.topic.jsonl: found 2 lines; expected 3, says manifest.json."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"[]\n", "found []; expected a JSON object as archives spell it, each key once."),
        (b"{}\n", "found the keys ; expected import_record, campaign, "),
        (b"nothing\n", "expected a JSON object as archives have them."),
        (b"\xff\n", "expected a JSON object as archives have them."),
        (b'{"a": NaN}\n', "NaN is no number; expected a JSON object"),
        (b'{"a": 1e999}\n', "expected a JSON object as archives have them."),
        (b'{"a": 1, "a": 2}\n', "each key once."),
        (b'{"a":  1}\n', "expected a JSON object as archives spell it"),
        (b'{"a": "\\ud800"}\n', "expected a JSON object as archives"),
        (b"[" * 100_000 + b"]" * 100_000 + b"\n", "expected a JSON object as archives have them."),
        (b'{"a": ' + b"9" * 5_000 + b"}\n", "expected a JSON object as archives have them."),
    ],
)
def test_lines_that_no_archive_has(files: Files, tmp_path: Path, line: bytes, expected: str):
    message = refused(sealed(files | {"campaigns.topic.jsonl": line}), tmp_path)
    assert message.startswith("campaigns.topic.jsonl, line 1")
    assert expected in message


def test_a_line_without_end(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(container, "LONGEST_LINE", 1_000)
    long = sealed(files | {"campaigns.topic.jsonl": b"x" * 5_000 + b"\n"})
    assert refused(long, tmp_path).startswith("campaigns.topic.jsonl, line 1: found a line without an end")


def test_a_bomb_is_not_unpacked(files: Files, tmp_path: Path):
    bomb = files | {"campaigns.topic.jsonl": b" " * 64 * 1024 * 1024}
    message = refused(bomb, tmp_path)
    assert message.startswith("campaigns.topic.jsonl: found ")
    assert message.endswith("bytes that unpack to 67,108,864; expected at most 200 times as many.")


def test_a_file_twice_and_a_file_that_says_it_is_smaller(files: Files, tmp_path: Path):
    path = packed(files, tmp_path / "twice.zip")
    with zipfile.ZipFile(path, "a") as out, pytest.warns(UserWarning, match="Duplicate"):
        out.writestr("campaigns.topic.jsonl", b"")
    with pytest.raises(
        ArchiveError, match=r"^campaigns\.topic\.jsonl: found the file twice; expected each file once\.$"
    ):
        verify(path)
    # The directory of a zip says how large a file is; what unpacks to more is not read further.
    path = packed(files, tmp_path / "smaller.zip")
    data, name = bytearray(path.read_bytes()), b"campaigns.segment.jsonl"
    # Its size stands in front of both of its names, before its contents and in the directory.
    for at in (data.index(name) - 30 + 22, data.rindex(name) - 46 + 24):
        [size] = struct.unpack_from("<L", data, at)
        assert size == len(files[name.decode()])
        struct.pack_into("<L", data, at, size - 10)
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"campaigns\.segment\.jsonl"):
        verify(path)


@pytest.mark.parametrize("cut", [0, 10, 2_000, -1, -30])
def test_half_a_file(campaign: Campaign, tmp_path: Path, cut: int):
    path = tmp_path / "half.zip"
    path.write_bytes(written(campaign)[:cut])
    with pytest.raises(ArchiveError, match=r"^half\.zip is no archive: "):
        verify(path)


def test_no_byte_can_be_changed_and_another_campaign_come_of_it(campaign: Campaign, tmp_path: Path):
    """What unpacks to other texts is told by the sums; a zip's times and the like say nothing of a campaign."""
    data, path = written(campaign), tmp_path / "changed.zip"
    before = {kept.label: list(kept.model._base_manager.order_by("pk").values_list("pk", flat=True)) for kept in KEPT}
    noticed = 0
    for at in range(0, len(data), len(data) // 60):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            verify(path)
        except ArchiveError:
            noticed += 1
    assert noticed > 30
    after = {kept.label: list(kept.model._base_manager.order_by("pk").values_list("pk", flat=True)) for kept in KEPT}
    assert after == before


def test_what_the_database_refuses_changes_nothing(files: Files, tmp_path: Path):
    def twice(rows: list[dict[str, Any]]) -> None:
        rows[1]["qid"] = rows[0]["qid"]

    path = packed(with_rows(files, "campaigns.topic", twice), tmp_path / "twice.zip")
    with pytest.raises(ArchiveError, match=r"^The database refuses the archive, nothing was restored: "):
        restore(path)
    nothing_is_there()


def test_references_inside_columns_lead_to_records_of_the_archive(whole: Campaign, tmp_path: Path):
    with zipfile.ZipFile(io.BytesIO(written(whole))) as opened:
        files = {info.filename: opened.read(info) for info in opened.infolist()}
    registered = whole.registrations.get().document
    forget_everything()
    nobodys = str(UUID(int=9))
    nugget = {"uid": nobodys, "text": "a", "importance": "vital", "evidence": []}
    for model, fields, name in (
        ("nuggets.nuggetbank", {"order": [10**6]}, "order"),
        ("nuggets.nuggetbank", {"order": [nobodys]}, "order"),
        ("nuggets.nugget", {"parents": [nobodys]}, "parents"),
        ("nuggets.nuggetbank", {"order": "abc"}, "order"),
        ("nuggets.bankedit", {"changes": {"order": [[1]] * 2, "nuggets": {"0": {}}}}, "changes"),
        ("nuggets.bankedit", {"changes": {"order": [[nobodys], []]}}, "changes"),
        ("nuggets.bankedit", {"changes": {"nuggets": {nobodys: {}}}}, "changes"),
        ("nuggets.nugget", {"under": nobodys}, "under"),
        ("nuggets.nugget", {"gold": [{"id": "g1", "text": "no references", "extras": {}}]}, "gold"),
        ("nuggets.bankedition", {"nuggets": [{"text": "no uid"}]}, "nuggets"),
        ("nuggets.bankedition", {"nuggets": [nugget]}, "nuggets"),
        ("nuggets.bankedition", {"consequences": {"stale": [nobodys]}}, "consequences"),
        ("nuggets.bankedition", {"consequences": {"stale": [-1]}}, "consequences"),
        ("assignment.assignment", {"nugget": 999999}, "nugget"),
        ("assignment.assignment", {"nugget": "1"}, "nugget"),
        ("assignment.assignment", {"sheet": 0}, "sheet"),
        ("assignment.assignment", {"raw": ["odd"]}, "raw"),
        ("assignment.labelevent", {"nugget": 999999}, "nugget"),
        ("support.supportjudgment", {"equal_to": 10**6}, "equal_to"),
        ("support.supportjudgment", {"sheet": "1"}, "sheet"),
        ("support.labelevent", {"judgment": -1}, "judgment"),
        ("support.labelevent", {"equal_to": 0}, "equal_to"),
        ("llm.unit", {"answer": 10**6}, "answer"),
        ("llm.unit", {"answer": None}, "answer"),
        ("llm.job", {"kind": "no such kind"}, "kind"),
        ("llm.modeljudge", {"key_variable": "DATABASE_URL"}, "key_variable"),
        ("campaigns.judge", {"parameters": []}, "parameters"),
        ("campaigns.judge", {"parameters": {"extra": "x"}}, "parameters"),
        ("campaigns.judge", {"parameters": {"family": "gpt"}}, "parameters"),
        ("campaigns.run", {"generator": "meta openai"}, "generator"),
        ("campaigns.judge", {"parameters": {"extra": {"stream": True}}}, "parameters"),
        ("studies.study", {"kind": "relevance"}, "kind"),
        ("metaeval.calibration", {"result": {"labels": []}}, "result"),
        ("metaeval.calibration", {"result": None}, "result"),
        ("studies.sensitivity", {"kind": "relevance"}, "kind"),
        ("studies.sensitivity", {"factors": {"judge": ["j"]}}, "factors"),
        ("studies.sensitivity", {"topics": [1]}, "topics"),
        ("campaigns.condition", {"variant": {"batch": 0, "order": "bank", "prompt_set": "assay-1"}}, "variant"),
        ("studies.registration", {"document": {"title": "a study"}}, "document"),
        ("studies.registration", {"document": {**registered, "title": " a study"}}, "document"),
        ("studies.registration", {"document": {**registered, "conditions": [1]}}, "document"),
        ("studies.sampleditem", {"answer": 10**6}, "answer"),
        ("studies.sampleditem", {"item": "999999 abc"}, "item"),
    ):
        message = refused(with_rows(files, model, setting(0, **fields)), tmp_path)
        assert message.startswith(f"{model}.jsonl, line 1, {name}: found"), message


def unzipped(campaign: Campaign) -> Files:
    """Return the files of a campaign's archive, which is in this database no longer."""
    with zipfile.ZipFile(io.BytesIO(written(campaign))) as opened:
        files = {info.filename: opened.read(info) for info in opened.infolist()}
    forget_everything()
    return files


def lacking(files: Files, model: str, column: str, odd: Callable[[Any], Any]) -> Files:
    """Return the files with an odd value in the first row of a model where the column says something."""

    def change(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in rows if row[column])
        row[column] = odd(row[column])

    return with_rows(files, model, change)


ASSIGNMENTS = "expected one of not_support, partial_support, support, 0, 1, 2, 3, 4, 5."
SUPPORT = "expected one of full, partial, none, not judged."
CUTS = "expected numbers as {window, nuggets, limit}."


def test_two_models_of_a_campaign_are_not_judges_of_one_name(whole: Campaign, tmp_path: Path):
    def change(rows: list[dict[str, Any]]) -> None:
        rows.append(next(row for row in rows if row["kind"] == "model"))

    message = refused(with_rows(unzipped(whole), "campaigns.judge", change), tmp_path)
    assert re.fullmatch(
        r"campaigns\.judge\.jsonl, line \d+, name: found .+; "
        r"expected a name other than that of the model in line \d+\.",
        message,
    )


def test_labels_that_no_app_knows_and_shapes_that_none_has(whole: Campaign, tmp_path: Path):
    files = unzipped(whole)
    nugget = {"uid": str(UUID(int=101)), "text": "a", "importance": "banana", "evidence": []}
    for model, column, odd, expected in (
        ("assignment.assignment", "value", lambda value: "banana", ASSIGNMENTS),
        ("assignment.assignment", "value", lambda value: ["support"], "expected text."),
        ("assignment.assignment", "value", lambda value: "", ASSIGNMENTS),
        ("assignment.assignment", "resolved_value", lambda value: "banana", ASSIGNMENTS),
        ("assignment.assignment", "state", lambda state: "said", "unjudgeable, outdated, removed, no_text, waiting."),
        ("assignment.assignment", "reason", lambda reason: 7, "expected text."),
        ("assignment.assignment", "flag", lambda flag: ["odd"], "expected text."),
        ("assignment.assignment", "marks", lambda marks: [[0, 0]], "expected words as [sentence, start, end]."),
        ("assignment.labelevent", "value", lambda value: "banana", ASSIGNMENTS),
        ("assignment.labelevent", "value_before", lambda value: "banana", ASSIGNMENTS),
        ("assignment.labelevent", "state", lambda state: "said", "unjudgeable, outdated, removed, no_text, waiting."),
        ("assignment.labelevent", "changes", lambda changes: {"adopted": [None, "banana"]}, ASSIGNMENTS),
        ("assignment.labelevent", "changes", lambda changes: {"flag": "odd"}, "expected [before, after]."),
        ("assignment.labelevent", "changes", lambda changes: "support", "expected an object for each item."),
        ("support.supportjudgment", "value", lambda value: "2", SUPPORT),
        ("support.supportjudgment", "state", lambda state: "said", "unjudgeable, outdated, removed, no_text, waiting."),
        ("support.supportjudgment", "docid", lambda docid: ["d1"], "expected text."),
        ("support.labelevent", "value", lambda value: "banana", SUPPORT),
        ("argue.arguejudgment", "key", lambda key: "s0.odd", "expected the key of a judgment, as s0.needs."),
        ("nuggets.drafting", "cuts", lambda cuts: [{"window": 1, "nuggets": "31", "limit": 30}], CUTS),
        ("nuggets.drafting", "cuts", lambda cuts: [{"window": 1, "nuggets": 31}], CUTS),
        ("nuggets.drafting", "cuts", lambda cuts: [31], CUTS),
        ("nuggets.bankedition", "nuggets", lambda nuggets: [nugget], "expected one of nothing, vital, okay."),
        ("nuggets.nugget", "gold", lambda gold: {"g1": "content"}, "expected a list."),
        ("nuggets.nugget", "gold", lambda gold: [gold[0] | {"text": 1}], "expected texts."),
        ("nuggets.nugget", "gold", lambda gold: [gold[0] | {"references": [{"docid": None}]}], "expected texts."),
        ("nuggets.nugget", "aggregator", lambda aggregator: "NOT", "expected one of , OR, AND."),
    ):
        message = refused(lacking(files, model, column, odd), tmp_path)
        assert message.startswith(f"{model}.jsonl, line "), message
        assert f", {column}: found " in message
        assert message.endswith(expected), message


def test_a_label_of_another_kind_that_has_the_same_table(whole: Campaign, tmp_path: Path):
    files = unzipped(whole)
    for model, column in (("assignment.assignment", "value"), ("assignment.labelevent", "value_before")):
        message = refused(lacking(files, model, column, lambda value: "3"), tmp_path)
        assert message.startswith(f"{model}.jsonl, line "), message
        assert message.endswith(f", {column}: found 3; expected one of not_support, partial_support, support."), message


@pytest.fixture
def signed(
    monkeypatch: pytest.MonkeyPatch, anna: Person, ben: Person, olga: Person, otto: Person, import_file: Importer
) -> Campaign:
    """The whole campaign in a house that signs what it freezes."""
    monkeypatch.setenv(KEY, base64.b64encode(bytes(range(32))).decode())
    return make_everything("whole", {"anna": anna, "ben": ben, "olga": olga, "otto": otto}, import_file)


def test_frozen_files_that_are_not_those_that_were_frozen(signed: Campaign, tmp_path: Path):
    files = unzipped(signed)
    verify(packed(files, tmp_path / "signed.zip"))
    bomb = base64.b64encode(zlib.compress(bytes(64 << 20))).decode()
    other = base64.b64encode(zlib.compress(b"other")).decode()
    unpacks = "expected a part of a frozen file."
    for model, change, expected in (
        ("chunk", setting(0, data=bomb), unpacks),
        ("chunk", setting(0, data="banana"), unpacks),
        ("chunk", setting(0, data=base64.b64encode(b"banana").decode()), unpacks),
        ("chunk", setting(0, data=other[:-8]), unpacks),
        ("chunk", setting(0, data=other), "expected bytes whose size and sha256 are those of "),
        ("chunk", setting(0, place=1), "line 1, place: found 1; expected 0, the next of its blob."),
        ("blob", setting(0, size=1), "expected bytes whose size and sha256 are those of "),
        ("blob", setting(0, sha256="0" * 64), "expected bytes whose size and sha256 are those of "),
        ("frozenfile", setting(0, name="other.jsonl"), "expected the files that are there, with their sums."),
        ("frozenfile", lambda rows: rows.pop(), "expected the files that are there, with their sums."),
        ("frozen", setting(0, manifest="{}"), "expected a manifest with the sums of its files."),
        ("frozen", setting(0, signature="banana"), "expected that of the manifest by the public key."),
        ("frozen", setting(0, signature=""), "expected that of the manifest by the public key."),
        ("frozen", setting(0, public_key="0" * 44), "expected that of the manifest by the public key."),
    ):
        message = refused(with_rows(files, f"exports.{model}", change), tmp_path)
        assert message.startswith("exports."), message
        assert expected in message, (model, message)


def test_what_a_broken_off_freeze_left_is_archived_and_restored(whole: Campaign, tmp_path: Path):
    left = Blob.objects.create(campaign=whole, sha256="0" * 64, size=10**6)
    Chunk.objects.create(blob=left, place=0, data=base64.b64encode(zlib.compress(b"some")).decode())
    path = packed(unzipped(whole), tmp_path / "left.zip")
    restore(path)
    assert Chunk.objects.filter(blob__sha256="0" * 64).count() == 1


def test_sqlite_with_other_campaigns_is_restored_into_only_when_that_is_said(
    campaign: Campaign, olga, import_file: Importer, tmp_path: Path
):
    path = tmp_path / "study.zip"
    path.write_bytes(written(campaign))
    forget_everything()
    Campaign.objects.create(name="Other", slug="other")
    if connection.vendor == "sqlite":
        with pytest.raises(CommandError, match="This SQLite database has other campaigns"):
            call_command("restore_archive", str(path))
        assert [campaign.slug for campaign in Campaign.objects.all()] == ["other"]
    call_command("restore_archive", str(path), "--while-others-wait")
    assert sorted(campaign.slug for campaign in Campaign.objects.all()) == ["other", "study"]
