"""Freezing: what is missing, versions, the same bytes again, what changed since, verification."""

import base64
import io
import json
import re
import zipfile
from hashlib import sha256
from typing import NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command

from assessor.archive.actions import restore
from assessor.campaigns.models import Event
from assessor.exports import actions, frozen_files
from assessor.exports import freeze as freezing
from assessor.exports.checksums import Damaged
from assessor.exports.freeze import FreezeError, freeze, frozen_bundle
from assessor.exports.frozen_changes import changes_since
from assessor.exports.models import Blob, Chunk, Export, Frozen
from assessor.exports.readiness import missing
from assessor.exports.registry import EXPORTABLES
from assessor.exports.verification import verify
from assessor.llm.models import Job, Unit
from assessor.work.models import Exposure, Task
from nuggets import actions as nuggets
from tests.archive.campaigns import forget_everything, written
from tests.archive.conftest import archived, whole  # noqa: F401
from tests.assignment.conftest import A, answered, finished, manual  # noqa: F401
from tests.assignment.lines import line
from tests.conftest import client_of
from tests.judging import all_judged, asked, change, give, given, judged, stands
from tests.llm.grading import make_judge
from tests.nuggets.conftest import do, restored
from tests.questions import banks
from tests.relevance.conftest import give_relevance, judge_item

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = base64.b64encode(KEY.public_key().public_bytes_raw()).decode()


@pytest.fixture(autouse=True)
def _own_folder_and_key(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    (tmp_path / "uploads").mkdir()
    (tmp_path / "exports").mkdir()
    monkeypatch.setenv("ASSAY_SIGNING_KEY", base64.b64encode(KEY.private_bytes_raw()).decode())


PURR, GLASS = ("Why do cats purr?", "Do dogs?", "Do all?"), "What becomes of glass?"


def graded(question, grade, qid="t1", run_id="r1", passage="Cats purr to heal."):
    return {"run_id": run_id, "query_id": qid, "question": question, "passage": passage, "grade": grade}


class File(NamedTuple):
    """A file of labels. other: a label that its first record does not have; further: lines of another answer.

    first, added, removed: what records are called, the first, those of the other answer, and that of t2.
    """

    kind: str
    lines: list
    other: str
    further: list
    first: str
    added: list[str]
    removed: str

    @property
    def name(self):
        return f"{self.kind}.jsonl"


FILES_OF = {
    "assignment": File(
        kind="assignments",
        lines=[line(), line("t2", text="Glass is melted.")],
        other="not_support",
        further=[line(run_id="r2", text="Dogs bark.")],
        first="t1 r1",
        added=["t1 r2"],
        removed="t2 r1",
    ),
    "grading": File(
        kind="question_grades",
        lines=[*map(graded, PURR, (5, 0, 3)), graded(GLASS, 4, "t2", passage="Glass is melted.")],
        other="1",
        further=[graded(question, 0, run_id="r0", passage="Dogs bark.") for question in PURR],
        first=f"t1 r1 {PURR[0]}",
        added=[f"t1 r0 {question}" for question in PURR],
        removed=f"t2 r1 {GLASS}",
    ),
}


of_each_kind = pytest.mark.parametrize("labelled", FILES_OF, indirect=True)


@pytest.fixture
def labelled(request, campaign, import_file):
    """A condition with all labels of two answers, as a file brought them: of nuggets, or grades of questions."""
    file, options = FILES_OF[getattr(request, "param", "assignment")], {"condition": "Mia", "by": "model"}
    if file.kind == "question_grades":
        questions = [banks.bank(*map(banks.question, PURR)), banks.bank(banks.question(GLASS), qid="t2")]
        assert import_file(campaign, "questions", questions, condition="Questions", by="model").state == "done"
        options["nuggets"] = "Questions"
    assert import_file(campaign, file.kind, file.lines, **options).state == "done"
    return campaign.conditions.get(name="Mia")


def zipped(frozen: Frozen) -> bytes:
    return b"".join(frozen_bundle(frozen))


def relabel(condition, tag=None, **label):
    sheet = judged(condition, tag, "t1")
    change(sheet, {next(iter(given(sheet))): {"label": FILES_OF[condition.kind].other} | label})


def label_everything(condition):
    for sheet in all_judged(condition):
        if stands(sheet)["to_do"]:
            change(sheet, {nugget: {"label": "support"} for nugget in asked(sheet)})


def test_a_condition_with_work_left_is_refused_with_all_reasons(manual, topic, anna):  # noqa: F811
    give(manual, topic, anna)
    assert missing(manual) == ["1 task of people is open: t1.", "2 answers lack 6 labels: t1."]
    with pytest.raises(FreezeError, match=r"is not finished\. 1 task of people is open: t1\. 2 answers lack 6 labels"):
        freeze(condition=manual, acting_user=None)
    page = client_of(manual.campaign.memberships.get(role="organizer").person)
    html = page.get(f"/campaigns/study/frozen/{manual.pk}/").content.decode()
    listed = page.get("/campaigns/study/frozen/").content.decode()
    assert re.findall(r'aria-label="(See what|Freeze) ([^"]*)"', listed) == [
        ("See what", f"{manual} lacks"),
        ("Freeze", str(manual.nuggets)),
    ]
    assert "<li>2 answers lack 6 labels: t1.</li>" in html
    assert "Freeze as version" not in html
    response = page.post(f"/campaigns/study/frozen/{manual.pk}/freeze/", follow=True).content.decode()
    assert "it was not frozen" in response
    assert not Export.objects.exists()


def test_open_banks_and_tasks_keep_nuggets_from_being_frozen(bank, condition):
    assert missing(condition) == [
        "1 task of people is open: t1.",
        "1 bank is open: t1.",
        "No bank is finished yet.",
    ]


def test_what_is_left_on_practice_topics_keeps_nothing(finished, condition, campaign, ben):  # noqa: F811
    other = campaign.topics.get(qid="t2")
    give(condition, other, ben)
    assert missing(condition) == ["1 task of people is open: t2.", "1 bank is open: t2."]
    campaign.topics.filter(qid="t2").update(is_practice=True)
    assert missing(condition) == []


def test_passages_that_are_not_graded_keep_grades_from_being_frozen(campaign, anna, import_file):
    import_file(campaign, "retrieval", "t1 Q0 d1 1 9 one\nt1 Q0 d2 2 8 one\n")
    task = give_relevance(campaign, anna)
    condition = task.condition
    assert missing(condition) == [
        "1 task of people is open: t1.",
        "2 passages are not graded: t1.",
        "Nothing is graded yet.",
    ]
    for item in condition.relevance_judgments.all():
        judge_item(item)
    assert missing(condition) == []


def test_an_answer_that_has_no_score_is_named(manual, topic, anna):  # noqa: F811
    give(manual, topic, anna)
    label_everything(manual)
    Task.objects.update(state=Task.State.FINISHED)
    assert missing(manual) == []
    sheet = judged(manual, "team.two")
    change(sheet, {asked(sheet)[0]: {"label": None, "cannot": "garbled"}}, "cannot")
    [told] = missing(manual)
    assert told.startswith("1 answer is incomplete, the first is that of team.two to t1: ")


def test_what_a_job_left_is_told_until_a_job_did_it_of_that_very_answer(manual, topic, anna):  # noqa: F811
    give(manual, topic, anna)
    label_everything(manual)
    Task.objects.update(state=Task.State.FINISHED)
    judge = make_judge(manual.campaign)
    failed, later = (
        Job.objects.create(campaign=manual.campaign, kind="AutoAssign", condition=manual, judge=judge, state="done")
        for _ in range(2)
    )
    answers = [judged(manual, tag).answer for tag in ("team.one", "team.two")]
    Unit.objects.bulk_create(Unit(job=failed, topic=topic, answer=one, state="failed") for one in answers)
    assert missing(manual) == ["2 units of jobs failed, or were never done: t1."]
    Unit.objects.create(job=later, topic=topic, answer=answers[0], state="done")
    assert missing(manual) == ["1 unit of a job failed, or was never done: t1."]
    # Another citation of the answer is another unit.
    Unit.objects.create(job=later, topic=topic, answer=answers[1], item="2.0", state="done")
    assert missing(manual) == ["1 unit of a job failed, or was never done: t1."]
    Unit.objects.create(job=later, topic=topic, answer=answers[1], state="done")
    assert missing(manual) == []


@of_each_kind
def test_a_finished_condition_is_frozen_and_exported_again(labelled, olga):
    frozen = freeze(condition=labelled, acting_user=olga)
    file = FILES_OF[labelled.kind]
    names = [file.name, "scores.csv", "scores.topics.csv"]
    manifest = json.loads(frozen.manifest)
    assert [(one["name"], one["records"]) for one in manifest["files"]] == [
        *zip(names, (len(file.lines), 4, 2), strict=True)
    ]
    assert manifest["condition"]["identity"] == labelled.identity
    assert (manifest["version"], manifest["made_by"], manifest["signed"]) == (1, "olga", True)
    assert (frozen.version, frozen.public_key) == (1, PUBLIC)
    first = zipped(frozen)
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.namelist() == ["manifest.json", "signature.json", *names]
        assert archive.read(file.name).count(b"\n") == len(file.lines)
    relabel(labelled)
    assert zipped(Frozen.objects.get()) == first
    assert Event.objects.get(verb="condition frozen").details["signed"] is True


@of_each_kind
def test_a_change_is_told_and_makes_a_new_version(labelled, olga):
    first = freeze(condition=labelled, acting_user=olga)
    assert changes_since(first) == []
    with pytest.raises(FreezeError, match="Nothing has changed since version 1 of Mia"):
        freeze(condition=labelled, acting_user=olga)
    relabel(labelled)
    changes = {change.file: change[1:] for change in changes_since(first)}
    file = FILES_OF[labelled.kind]
    assert changes[file.name] == (0, 0, 1, [f"{file.first} (changed)"])
    assert changes["scores.topics.csv"] == (0, 0, 1, ["r1 t1 (changed)"])
    html = client_of(olga).get(f"/campaigns/study/frozen/{labelled.pk}/").content.decode()
    told = int(re.search(r"<strong>(\d+) records? changed since version 1\.</strong>", html)[1])
    assert told == sum(sum(counts[:3]) for counts in changes.values()) > 1
    named = f"<bdi>{file.first} (changed)</bdi>"
    assert f"<bdi>{file.name}</bdi>: 0 records added, 0 removed, 1 changed: {named}" in html
    second = freeze(condition=labelled, acting_user=olga)
    assert second.version == 2
    assert zipped(first) != zipped(second)
    html = client_of(olga).get(f"/campaigns/study/frozen/{labelled.pk}/").content.decode()
    assert "Nothing has changed since version 2." in html


@of_each_kind
def test_added_and_removed_records_are_told(labelled, campaign, import_file):
    first, file = freeze(condition=labelled, acting_user=None), FILES_OF[labelled.kind]
    assert (
        import_file(campaign, file.kind, file.further, condition="Mia", by="model", nuggets=labelled.nuggets.name).state
        == "done"
    )
    campaign.topics.filter(qid="t2").update(is_practice=True)
    changes = {change.file: change[1:] for change in changes_since(first)}
    assert changes[file.name] == (
        len(file.added),
        1,
        0,
        [*map("{} (added)".format, file.added), f"{file.removed} (removed)"],
    )


def test_a_label_that_is_taken_back_is_told(manual, topic, anna, olga):  # noqa: F811
    give(manual, topic, anna)
    label_everything(manual)
    Task.objects.update(state=Task.State.FINISHED)
    first = freeze(condition=manual, acting_user=olga)
    relabel(manual, "team.one", label=None)
    assert missing(manual) == ["1 answer lacks 1 label: t1."]
    changes = {change.file: change[1:] for change in changes_since(first)}
    assert changes["assignments.jsonl"] == (0, 0, 1, ["t1 team.one (changed)"])
    assert changes["scores.topics.csv"] == (0, 0, 1, ["team.one t1 (changed)"])
    html = client_of(olga).get(f"/campaigns/study/frozen/{manual.pk}/").content.decode()
    assert "1 answer lacks 1 label: t1." in html
    assert "t1 team.one (changed)" in html


def test_a_file_that_would_not_be_made_any_more_is_told_as_removed(labelled, monkeypatch):
    first = freeze(condition=labelled, acting_user=None)
    without_scores = tuple(kind for kind in EXPORTABLES if kind.name != "scores")
    monkeypatch.setattr(freezing, "EXPORTABLES", without_scores)
    changes = {change.file: change[1:4] for change in changes_since(first)}
    assert changes == {"scores.csv": (0, 4, 0), "scores.topics.csv": (0, 2, 0)}


def test_reopened_nuggets_make_a_new_edition_and_a_new_version(finished, condition, olga):  # noqa: F811
    first = freeze(condition=condition, acting_user=olga)
    nuggets.reopen_bank(restored(finished), reason="a mistake", acting_user=olga)
    assert missing(condition)
    do(restored(finished), nuggets.delete_nugget, uid=A)
    do(restored(finished), nuggets.finish_bank)
    assert [change[:4] for change in changes_since(first)] == [
        ("nuggets.jsonl", 0, 0, 1),
        ("nuggets.lineage.jsonl", 0, 0, 1),
    ]
    assert freeze(condition=condition, acting_user=olga).version == 2


@pytest.mark.parametrize(("step", "blobs_kept"), [("spooled", 0), ("keep", 3)])
def test_a_change_during_freezing_refuses_it(labelled, monkeypatch, step, blobs_kept):
    done = getattr(frozen_files, step)

    def change_too(*args):
        relabel(labelled)
        return done(*args)

    monkeypatch.setattr(frozen_files, step, change_too)
    with pytest.raises(FreezeError, match="was changed while it was frozen"):
        freeze(condition=labelled, acting_user=None)
    assert not Frozen.objects.exists()
    assert Blob.objects.count() == blobs_kept


def test_equal_bytes_are_kept_once_and_what_a_killed_process_left_is_gone_on_with(campaign, monkeypatch):
    monkeypatch.setattr(frozen_files, "_CHUNK", 10)
    lines = [f"line {number}\n" for number in range(20)]

    def kept():
        with frozen_files.spooled(iter(lines), 0, lambda records: None) as spool:
            return frozen_files.keep(campaign, spool, lambda records: None), spool.tally

    blob, tally = kept()
    text = "".join(lines)
    assert (tally.records, tally.size, Chunk.objects.count()) == (20, len(text), -(-len(text) // 10))
    assert list(frozen_files.text_lines(blob)) == lines
    Chunk.objects.all()._raw_delete(using="default")
    with pytest.raises(Damaged):
        list(frozen_files.pieces(blob))
    again, _ = kept()
    assert again == blob
    assert "".join(frozen_files.text_lines(blob)) == text


@of_each_kind
def test_it_is_frozen_in_the_background(labelled, olga, django_capture_on_commit_callbacks):
    client = client_of(olga)
    with django_capture_on_commit_callbacks():
        response = client.post(f"/campaigns/study/frozen/{labelled.pk}/freeze/")
        client.post(f"/campaigns/study/frozen/{labelled.pk}/freeze/")
    export = Export.objects.get()
    assert response["Location"] == f"/campaigns/study/exports/made/{export.pk}/"
    assert actions.run(export).state == "done"
    assert Frozen.objects.get().person == olga
    assert client.get(f"/campaigns/study/exports/made/{export.pk}/file").status_code == 404
    assert (
        f"{labelled.name} is frozen: see <a"
        in client.get(f"/campaigns/study/exports/made/{export.pk}/").content.decode()
    )
    bundle = b"".join(client.get(f"/campaigns/study/frozen/{labelled.pk}/1.zip").streaming_content)
    assert bundle == zipped(Frozen.objects.get())
    seen = Exposure.objects.filter(person=olga).values_list("topic__qid", "kind").distinct()
    kinds = sorted([labelled.kind, labelled.nuggets.kind])
    assert sorted(seen) == [(qid, kind) for qid in ("t1", "t2") for kind in kinds]
    manifest = client.get(f"/campaigns/study/frozen/{labelled.pk}/1.json").content.decode()
    assert manifest == Frozen.objects.get().manifest


def test_without_a_key_it_is_unsigned_and_told_so(labelled, olga, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("ASSAY_SIGNING_KEY")
    html = client_of(olga).get(f"/campaigns/study/frozen/{labelled.pk}/").content.decode()
    assert "the manifest will not be signed" in html
    frozen = freeze(condition=labelled, acting_user=None)
    assert (frozen.public_key, frozen.signature) == ("", "")
    (tmp_path / "b.zip").write_bytes(zipped(frozen))
    call_command("verify", str(tmp_path / "b.zip"))
    assert "It is not signed" in capsys.readouterr().out
    with pytest.raises(CommandError, match="It is not signed"):
        call_command("verify", str(tmp_path / "b.zip"), f"--public-key={PUBLIC}")


def test_an_odd_key_is_refused_and_never_told(labelled, monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_SIGNING_KEY", "a secret that is no key")
    with pytest.raises(CommandError) as error:
        call_command("freeze_condition", "study", "--condition=Mia")
    assert "no Ed25519 key" in str(error.value)
    assert "secret" not in str(error.value)
    monkeypatch.delenv("ASSAY_SIGNING_KEY")
    monkeypatch.setenv("ASSAY_SIGNING_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(CommandError, match="ASSAY_SIGNING_KEY_FILE"):
        call_command("freeze_condition", "study", "--condition=Mia")
    assert not Frozen.objects.exists()


def test_the_key_is_kept_nowhere(labelled):
    frozen = freeze(condition=labelled, acting_user=None)
    secret = base64.b64encode(KEY.private_bytes_raw()).decode()
    told = json.dumps([str(row) for model in (Frozen, Event, Export) for row in model.objects.values()])
    assert secret not in told
    assert secret.encode() not in zipped(frozen)


@pytest.fixture
def bundle(labelled, tmp_path):
    """A folder and a zip of one frozen version, as they were downloaded."""
    out = tmp_path / "out"
    out.mkdir()
    call_command("freeze_condition", "study", "--condition=Mia", stdout=io.StringIO())
    call_command("export_frozen", "study", "--condition=Mia", f"-o={out / 'b.zip'}", stdout=io.StringIO())
    with zipfile.ZipFile(out / "b.zip") as archive:
        archive.extractall(out / "folder")
    return out


@of_each_kind
def test_the_command_verifies_zip_and_folder(bundle, capsys):
    for path in (bundle / "b.zip", bundle / "folder"):
        call_command("verify", str(path), f"--public-key={PUBLIC}")
        assert (
            f"As it was frozen: version 1 of Mia, manifest {verify(path).manifest_sha256}. Signed with {PUBLIC}."
            in (capsys.readouterr().out)
        )


def test_another_key_is_told(bundle):
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    assert verify(bundle / "folder", base64.b64encode(other).decode()).problems == ["It was signed with another key."]


FILES = ("manifest.json", "signature.json", "assignments.jsonl", "scores.csv", "scores.topics.csv")


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_is_found_in_a_folder(bundle, name):
    path = bundle / "folder" / name
    data = path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 40)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert verify(bundle / "folder", PUBLIC).problems, (name, at)


def test_any_changed_byte_is_found_in_a_zip(bundle):
    path = bundle / "b.zip"
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert verify(path, PUBLIC).problems, at
    path.write_bytes(data + b"\n")
    assert verify(path, PUBLIC).problems
    path.write_bytes(data[:-30])
    assert verify(path, PUBLIC).problems


def test_a_name_that_would_tell_a_terminal_to_do_something_is_told_visibly(bundle):
    with zipfile.ZipFile(bundle / "b.zip", "a") as zipped_again:
        zipped_again.writestr(zipfile.ZipInfo("a\x1b[2J\u202e"), b"")
    assert verify(bundle / "b.zip").problems == ["a\\u001b[2J\\u202e is not named in the manifest."]


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_found(bundle, name):
    (bundle / "folder" / name).unlink()
    assert any(f"{name} is missing" in problem for problem in verify(bundle / "folder").problems)


@pytest.mark.parametrize("name", ["more.txt", "sub/more.txt"])
def test_a_further_file_is_found(bundle, name):
    (bundle / "folder" / "sub").mkdir()
    (bundle / "folder" / name).write_text("more")
    assert verify(bundle / "folder").problems == [f"{name} is not named in the manifest."]


def test_a_file_changed_with_its_sum_is_found_by_the_signature(bundle):
    folder = bundle / "folder"
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "scores.csv").write_text("forged")
    [file] = [one for one in manifest["files"] if one["name"] == "scores.csv"]
    file["sha256"] = sha256(b"forged").hexdigest()
    text = json.dumps(manifest).encode()
    (folder / "manifest.json").write_bytes(text)
    signature = json.loads((folder / "signature.json").read_text())
    signature["manifest_sha256"] = sha256(text).hexdigest()
    (folder / "signature.json").write_text(json.dumps(signature, indent=1) + "\n")
    assert verify(folder, PUBLIC).problems == ["The signature is not that of the manifest."]
    none = dict.fromkeys(("algorithm", "signature", "public_key"))
    (folder / "signature.json").write_text(json.dumps(signature | none, indent=1) + "\n")
    assert verify(folder, PUBLIC).problems == ["It is not signed."]
    assert verify(folder).problems == ["It was signed, and its signature is gone."]


def test_a_zip_that_was_packed_anew_is_refused(bundle):
    with zipfile.ZipFile(bundle / "p.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in FILES:
            packed.write(bundle / "folder" / name, name)
    wrong = ["manifest.json is compressed: this is no bundle as it was frozen."]
    assert verify(bundle / "p.zip").problems == wrong
    data = (bundle / "p.zip").read_bytes()
    at = data.index(b"manifest.json") + 60
    (bundle / "p.zip").write_bytes(data[:at] + bytes(20) + data[at + 20 :])
    assert verify(bundle / "p.zip").problems == wrong


def test_a_frozen_version_is_the_same_bytes_in_another_database(whole, archived):  # noqa: F811
    before = zipped(Frozen.objects.get())
    forget_everything()
    campaign = restore(archived)
    frozen = Frozen.objects.get()
    assert frozen.condition.campaign == campaign
    assert zipped(frozen) == before
    assert changes_since(frozen) == []


@of_each_kind
def test_labels_and_their_frozen_version_are_the_same_bytes_in_another_database(labelled, tmp_path):
    def files(condition):
        return {kind.name: "".join(kind.lines(chosen)) for kind, chosen in freezing.parts_of(condition)}

    first, before = zipped(freeze(condition=labelled, acting_user=None)), files(labelled)
    relabel(labelled)
    after = files(labelled)
    assert after != before
    path = tmp_path / "study.zip"
    path.write_bytes(written(labelled.campaign))
    forget_everything()
    condition = restore(path).conditions.get(name="Mia")
    frozen = condition.frozen.get()
    assert (zipped(frozen), files(condition)) == (first, after)
    named = {change.file: change.named for change in changes_since(frozen)}
    file = FILES_OF[labelled.kind]
    assert named[file.name] == [f"{file.first} (changed)"]
    (tmp_path / "b.zip").write_bytes(zipped(frozen))
    assert verify(tmp_path / "b.zip", PUBLIC).problems == []
