"""Archive, empty database, archive: the same bytes, and the same campaign."""

import io
import json
import zipfile
from pathlib import Path
from uuid import uuid4

import pytest

from assessor.accounts.models import Person
from assessor.archive.actions import restore
from assessor.archive.errors import ArchiveError
from assessor.archive.reader import verify
from assessor.archive.registry import KEPT
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.llm.models import Job, Unit
from assessor.studies.models import ControlSet
from assessor.work.actions import give_tasks
from assessor.work.models import Write
from metaeval.models import Calculation
from metaeval.queries import latest_calculations
from metaeval.report import with_keys_of_topics
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from tests.archive.campaigns import exported, forget_everything, written
from tests.conftest import QRELS, TOPICS, Importer, client_of
from tests.llm.grading import make_judge


def lines(data: bytes, name: str) -> list[dict]:
    """Return the records of a file of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return [json.loads(line) for line in opened.read(f"{name}.jsonl").splitlines()]


def test_the_campaign_has_a_record_of_everything(computed: Campaign, archived: Path):
    counts = verify(archived)
    assert list(counts) == [kept.label for kept in KEPT]
    assert [name for name, number in counts.items() if not number] == []


def test_restored_under_other_keys_it_is_archived_as_the_same_bytes(computed: Campaign, archived: Path):
    before, labels = archived.read_bytes(), exported(computed)
    keys = {kept.label: set(kept.model._base_manager.values_list("pk", flat=True)) for kept in KEPT}
    assert len(labels) > 5
    assert "purring heals" in labels["Manual/Manual"]
    forget_everything()
    campaign = restore(archived)
    for kept in KEPT:
        now = set(kept.model._base_manager.values_list("pk", flat=True))
        assert now, kept.label
        assert not now & keys[kept.label], f"{kept.label} has other keys now"
    assert written(campaign) == before
    assert exported(campaign) == labels


def test_two_archives_of_one_campaign_are_the_same_though_archiving_and_restoring_are_told(whole: Campaign):
    once = written(whole)
    for verb in ("archive written", "archive restored"):
        Event.objects.create(verb=verb, subject="it", campaign=whole, details={})
    assert written(whole) == once


def test_what_a_comparison_found_goes_on_being_that_of_the_present_labels(computed: Campaign, archived: Path):
    [calculation] = Calculation.objects.filter(state="done")
    assert latest_calculations(calculation.comparison).changed == []
    told = lines(archived.read_bytes(), "metaeval.calculation")
    assert {side["state"] for side in told[0]["inputs"].values()} == {None}
    forget_everything()
    restore(archived)
    [calculation] = Calculation.objects.filter(state="done")
    assert latest_calculations(calculation.comparison).changed == []
    topics = with_keys_of_topics(calculation)["topics"]
    assert [topic["qid"] for topic in topics] == ["t1"]
    assert topics[0]["pk"] == calculation.comparison.campaign.topics.get(qid="t1").pk


def test_a_result_of_labels_that_are_past_stays_one(computed: Campaign, tmp_path: Path):
    [calculation] = Calculation.objects.filter(state="done")
    inputs = calculation.inputs
    inputs["first"]["state"] = "as it once was"
    Calculation.objects.filter(pk=calculation.pk).update(inputs=inputs)
    path = tmp_path / "past.zip"
    path.write_bytes(written(computed))
    forget_everything()
    campaign = restore(path)
    [calculation] = Calculation.objects.filter(state="done")
    assert latest_calculations(calculation.comparison).changed == ["Manual/Manual"]
    assert written(campaign) == path.read_bytes()


def test_who_is_restored_has_their_role_and_no_password(archived: Path):
    before = Person.objects.get(username="anna")
    forget_everything()
    restore(archived)
    anna = Person.objects.get(username="anna")
    assert (anna.role_names, anna.date_joined, anna.has_usable_password()) == ({"assessor"}, before.date_joined, False)
    assert b"password" not in archived.read_bytes()
    assert "password" not in json.dumps(lines(archived.read_bytes(), "accounts.person"))


def test_administrators_are_restored_as_people_without_that_role(whole: Campaign, admin: Person, tmp_path: Path):
    Event.objects.create(verb="looked", subject="it", campaign=whole, person=admin, details={})
    admin.is_superuser = admin.is_staff = True
    admin.save()
    path = tmp_path / "admin.zip"
    path.write_bytes(written(whole))
    forget_everything()
    campaign = restore(path)
    again = Person.objects.get(username="admin")
    assert (again.role_names, again.is_superuser, again.is_staff) == (set(), False, False)
    assert written(campaign) == path.read_bytes()


def test_a_job_at_work_waits_for_its_organizer_once_restored(whole: Campaign, archived: Path):
    assert set(Job.objects.values_list("kind", "state")) >= {("Support", "paused"), ("AutoAssign", "waiting")}
    forget_everything()
    restore(archived)
    work = Job.objects.filter(kind__in=("Support", "AutoAssign"), condition__is_control=False)
    assert set(work.values_list("state", flat=True)) == {"paused"}
    assert not ControlSet.objects.exclude(every_days=None).exists()


def test_what_is_claimed_is_written_as_waiting(whole: Campaign):
    before = written(whole)
    unit = Unit.objects.filter(job__kind="AutoAssign").order_by("pk")[0]
    assert unit.state == "waiting"
    Unit.objects.filter(pk=unit.pk).update(state="claimed")
    assert written(whole) == before


def test_what_an_unfinished_import_brought_is_in_no_archive(whole: Campaign, import_file: Importer):
    before = written(whole)
    brought = import_file(whole, "segments", [{"docid": "d9", "segment": "Later."}])
    now = written(whole)
    assert [row["docid"] for row in lines(now, "campaigns.segment")][-1] == "d9"
    Event.objects.all()._raw_delete("default")
    without_events = written(whole)
    type(brought).objects.filter(pk=brought.pk).update(state="running")
    assert lines(written(whole), "campaigns.segment") == lines(before, "campaigns.segment")
    assert lines(written(whole), "campaigns.import") == lines(before, "campaigns.import")
    assert without_events != before


def test_a_campaign_that_is_there_is_not_restored_over(whole: Campaign, archived: Path):
    with pytest.raises(ArchiveError, match=r"^There is a campaign whole already\.$"):
        restore(archived, use_existing_people=True, while_others_wait=True)


def test_people_who_are_there_are_used_only_if_that_is_said(whole: Campaign, archived: Path, olga: Person):
    forget_everything()
    anna = Person.objects.create_user("anna", password="hers", email="anna@example.org")
    before = Event.objects.count()
    with pytest.raises(ArchiveError, match=r"There are people of these names already: anna\. If they are the same"):
        restore(archived)
    assert (Campaign.objects.count(), Event.objects.count(), Person.objects.count()) == (0, before, 1)
    campaign = restore(archived, use_existing_people=True)
    anna.refresh_from_db()
    assert (anna.email, anna.role_names, anna.check_password("hers")) == ("anna@example.org", {"assessor"}, True)
    assert campaign.tasks.filter(person=anna).exists()


def test_a_judge_of_the_name_that_another_campaign_has_is_another_one(whole: Campaign, archived: Path, otto: Person):
    forget_everything()
    other = create_campaign(name="Other", slug="other", acting_user=None)
    theirs = make_judge(other, name="Mia of whole")
    campaign = restore(archived, while_others_wait=True)
    ours = campaign.model_judges.get(judge__name="Mia of whole")
    assert ours.judge_id != theirs.judge_id
    assert ours.judge.parameters["model"] == "mia"
    assert {condition.judge for condition in campaign.conditions.filter(judge__name="Mia of whole")} == {ours.judge}
    theirs.judge.refresh_from_db()
    assert theirs.judge.parameters["model"] != "mia"


def test_what_its_people_write_in_another_campaign_is_left_there(
    whole: Campaign, anna: Person, otto: Person, import_file: Importer
):
    before = written(whole)
    other = create_campaign(name="Other", slug="other", acting_user=otto)
    for kind, content in (("topics", TOPICS), ("qrels", QRELS)):
        import_file(other, kind, content, **({"source": "NIST", "by": "people"} if kind == "qrels" else {}))
    source = other.qrels_sources.get()
    manual = create_manual_nuggets(campaign=other, name="ManualNuggets", qrels_source=source, acting_user=otto)
    topics = list(other.topics.filter(qid="t1"))
    give_tasks(campaign=other, topics=topics, condition=manual, person=anna, acting_user=otto)
    bank = NuggetBank.objects.get(condition=manual)
    ours = len(lines(before, "work.write"))
    asked = {"key": str(uuid4()), "version": str(bank.version), "uid": str(uuid4()), "text": "of the other one"}
    assert client_of(anna).post(f"/nuggets/{bank.pk}/add/", asked).status_code == 200
    assert written(whole) == before
    assert ours == Write.objects.filter(campaign=whole).count() > 0
    assert len(lines(written(other), "work.write")) == 1


def test_a_write_of_which_nobody_knows_where_it_was_made_is_in_no_archive(whole: Campaign, anna: Person):
    before = written(whole)
    Write.objects.create(key=uuid4(), person=anna, request="0" * 64)
    assert written(whole) == before


def test_what_came_of_a_write_stays_in_its_installation(whole: Campaign, archived: Path):
    keys = {write.key for write in Write.objects.all()}
    assert any(write.result for write in Write.objects.all())
    assert not any("result" in told for told in lines(archived.read_bytes(), "work.write"))
    forget_everything()
    restore(archived)
    assert {write.key: write.result for write in Write.objects.all()} == dict.fromkeys(keys)


def test_conditions_are_called_by_names_and_never_by_keys(whole: Campaign, archived: Path):
    before = {condition.name: condition.identity for condition in Condition.objects.all()}
    forget_everything()
    restore(archived)
    assert {condition.name: condition.describe() for condition in Condition.objects.all()} == before


def test_a_registered_study_keeps_its_hash(whole: Campaign, archived: Path):
    before = whole.registrations.get()
    text, told = before.text, (before.sha256, before.made_at, str(before.made_by))
    forget_everything()
    after = restore(archived).registrations.get()
    assert (after.sha256, after.made_at, str(after.made_by)) == told
    assert after.text == text
    assert after.is_intact


def test_what_has_labels_is_known_of_every_kind(whole: Campaign):
    """No study can be registered for these conditions any more."""
    conditions = list(whole.conditions.all())
    labelled = {kind_of(one).name for one in conditions if kind_of(one).has_labels(one)}
    assert labelled == {one.kind for one in conditions}
    for one in conditions:
        assert not kind_of(one).has_labels(Condition(pk=0, kind=one.kind))
