"""What webhooks are told: each end once, with nothing of whose work it is, in the transaction in which it ends."""

import json
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Import, Segment, Topic
from assessor.campaigns.signals import ended
from assessor.imports import importer
from assessor.llm import claims, runner
from assessor.llm.actions import cancel
from assessor.llm.models import Job
from assessor.notices.actions import add_webhook, remove_webhook
from assessor.notices.models import Delivery, Webhook
from assessor.relevance.actions.judging import judge, undo
from assessor.relevance.models import RelevanceJudgment
from assessor.work.models import Task
from nuggets.actions import finish_bank
from nuggets.models import NuggetBank
from tests.conftest import Importer, client_of, make_person
from tests.judging import give, sign_off
from tests.llm.grading import make_job, make_judge
from tests.notices.receiver import Receiver
from tests.nuggets.conftest import do
from tests.relevance.conftest import give_relevance
from tests.stored_files import upload_path
from tests.support.judging_helpers import RUNS, from_scratch, run_file

pytestmark = pytest.mark.django_db


def told() -> list[dict[str, Any]]:
    """Return what is to be sent, the oldest first."""
    return [json.loads(body) for body in Delivery.objects.order_by("pk").values_list("body", flat=True)]


@pytest.fixture
def job(campaign: Campaign) -> Job:
    job = make_job(make_judge(campaign, "http://127.0.0.1:9/v1"))
    Job.objects.filter(pk=job.pk).update(state="running", units_total=3, units_done=2, units_failed=1, calls=4)
    return job


def test_a_job_that_is_done(webhook: Webhook, job: Job):
    assert claims.end_if_all_is_done(job.pk)
    assert not claims.end_if_all_is_done(job.pk)
    [one] = told()
    assert one["type"] == "job.done"
    assert one["timestamp"].endswith("+00:00")
    units = {"total": 3, "done": 2, "failed": 1}
    of_job = {"id": job.pk, "kind": "Grading", "state": "done", "units": units, "calls": 4, "cost": "0.000000"}
    assert one["data"] == {"campaign": "study", "job": of_job}
    assert list(one) == ["type", "timestamp", "data"]


def test_a_job_that_halts_and_one_that_is_cancelled(webhook: Webhook, job: Job, olga: Person):
    runner.halt(job.pk, "the key of mia is wrong")
    runner.halt(job.pk, "and again")
    cancel(job=Job.objects.get(pk=job.pk), acting_user=olga)
    assert [(one["type"], one["data"]["job"]["state"]) for one in told()] == [
        ("job.halted", "halted"),
        ("job.cancelled", "cancelled"),
    ]
    assert not any(word in json.dumps(told()) for word in ("mia", "olga", "wrong", job.condition.name))


def test_imports_however_they_end(webhook: Webhook, campaign: Campaign, olga: Person, import_file):
    import_file(campaign, "topics", "t3\twhy is the sky blue\n")
    import_file(campaign, "topics", "t4\twhy\n", check_only=True)
    import_file(campaign, "topics", "")
    waiting = importer.new_import(
        campaign=campaign, kind="topics", file_name="x", options={}, person=None, check_only=False
    )
    importer.stop(waiting, person=olga)
    importer.stop(waiting, person=olga)
    Import.objects.filter(pk=waiting.pk).update(state="running", owner="x 1 y:1", attempts=3)
    importer.sweep()
    assert [one["type"] for one in told()] == [
        "import.done",
        "import.checked",
        "import.refused",
        "import.stopped",
        "import.interrupted",
    ]
    first, refused = told()[0]["data"]["import"], told()[2]["data"]["import"]
    assert first | {"id": 0} == {
        **{"id": 0, "kind": "topics", "state": "done", "errors": 0, "warnings": 0},
        "counts": {"lines": 1, "topics added": 1},
    }
    assert refused["errors"] == 1
    assert "sky" not in json.dumps(told())


def test_an_import_that_waits_again_has_not_ended(webhook: Webhook, campaign: Campaign):
    waiting = importer.new_import(
        campaign=campaign, kind="topics", file_name="x", options={}, person=None, check_only=False
    )
    upload_path(waiting).write_text("t3\twhy\n")
    Import.objects.filter(pk=waiting.pk).update(state="running", owner="x 1 y:1", attempts=1)
    assert importer.sweep() == [waiting.pk]
    assert told() == []


def sign_off_support(campaign: Campaign, topic: Topic, anna: Person, import_file: Importer) -> Task:
    import_file(campaign, "runs", run_file("team.silent", {"t1": RUNS["team.silent"]["t1"]}))
    task = give(from_scratch(campaign), topic, anna)
    assert sign_off(client_of(anna), task, version=0).status_code == 200
    assert sign_off(client_of(anna), task, version=0).status_code == 409
    return task


def test_a_topic_that_is_signed_off(webhook: Webhook, campaign: Campaign, topic: Topic, anna: Person, import_file):
    task = sign_off_support(campaign, topic, anna, import_file)
    [imported, one] = told()
    assert imported["type"] == "import.done"
    assert one["type"] == "topic.finished"
    of_task = {"id": task.pk, "kind": "support", "state": "finished", "topic": "t1", "done": 0, "total": 0}
    assert one["data"] == {"campaign": "study", "task": of_task}
    assert not any(word in json.dumps(one) for word in ("anna", "purr", task.condition.name))


def test_a_bank_that_is_handed_in(webhook: Webhook, edited: NuggetBank):
    do(edited, finish_bank)
    [one] = told()
    of_task = {"id": edited.task_id, "kind": "nuggets", "state": "finished", "topic": "t1", "done": 2, "total": 2}
    assert (one["type"], one["data"]["task"]) == ("topic.finished", of_task)


def test_a_topic_whose_last_passage_is_graded_ends_for_all_who_had_it(
    webhook: Webhook, pooled: Campaign, anna: Person, ben: Person
):
    Delivery.objects.all().delete()
    tasks = [give_relevance(pooled, person, from_queue=True) for person in (anna, ben)]
    passages = list(RelevanceJudgment.objects.filter(condition=tasks[0].condition))
    for passage in passages:
        assert told() == []
        grade(tasks[0], passage)
    assert [one["data"]["task"]["id"] for one in told()] == [task.pk for task in tasks]
    passages[0].refresh_from_db()
    undo(tasks[0], item=passages[0], acting_user=anna, seen=passages[0].version)
    assert len(told()) == 2


def grade(task: Task, passage: RelevanceJudgment) -> None:
    RelevanceJudgment.objects.filter(pk=passage.pk).update(holder=task.person)
    segment = {"campaign": task.campaign, "docid": passage.docid}
    if not Segment.objects.filter(**segment).exists():
        Segment.objects.create(**segment, text="text", import_record=Segment.objects.latest("pk").import_record)
    seen = passage.version
    judge(task, item=passage, grade=2, reason="", seconds=None, acting_user=task.person, seen=seen)


def test_nothing_is_told_of_what_was_rolled_back(webhook: Webhook, job: Job):
    with transaction.atomic():
        assert claims.end_if_all_is_done(job.pk)
        assert len(told()) == 1
        transaction.set_rollback(True)
    assert told() == []
    assert Job.objects.get(pk=job.pk).state == "running"


def test_each_webhook_is_told_of_its_own_campaign_and_what_it_asked_for(
    webhook: Webhook, receiver: Receiver, job: Job, olga: Person
):
    elsewhere = create_campaign(name="Other", slug="other", acting_user=olga)
    of_both = [(webhook.campaign, ["import"]), (elsewhere, ["job"]), (webhook.campaign, ["job", "topic"])]
    made = [
        add_webhook(campaign=campaign, address=receiver.address, events=events, acting_user=olga)
        for campaign, events in of_both
    ]
    stopped, removed = (
        add_webhook(campaign=webhook.campaign, address=receiver.address, events=["job"], acting_user=olga)
        for _ in range(2)
    )
    Webhook.objects.filter(pk=stopped.pk).update(state="stopped")
    remove_webhook(webhook=removed, acting_user=olga)
    claims.end_if_all_is_done(job.pk)
    assert set(Delivery.objects.values_list("webhook", flat=True)) == {webhook.pk, made[2].pk}
    assert len(set(Delivery.objects.values_list("uid", flat=True))) == 2


def test_where_webhooks_are_off_nothing_is_asked_or_noted(webhook: Webhook, job: Job, settings: Any):
    settings.WEBHOOK_HOSTS = []
    with CaptureQueriesContext(connection) as asked:
        claims.end_if_all_is_done(job.pk)
    assert not any("notices" in query["sql"] for query in asked)
    assert told() == []


def test_it_asks_as_few_queries_for_many_tasks_and_webhooks(webhook: Webhook, pooled: Campaign, olga: Person):
    def queries(people: int) -> int:
        tasks = [
            give_relevance(pooled, make_person(f"p{people}{one}", "assessor"), from_queue=True) for one in range(people)
        ]
        with CaptureQueriesContext(connection) as asked, transaction.atomic():
            ended.send(Task, campaign_id=pooled.pk, pks=[task.pk for task in tasks])
        return len([one for one in asked if "SAVEPOINT" not in one["sql"]])

    few = queries(1)
    add_webhook(campaign=pooled, address=webhook.address, events=["topic"], acting_user=olga)
    assert queries(5) == few == 3
