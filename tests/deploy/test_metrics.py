"""What Prometheus reads: the right numbers, as its own parser takes them, and nothing of whose they are."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Import
from assessor.exports.models import Export
from assessor.llm.models import Job, Runner
from assessor.runtime.version import program_version
from assessor.work.models import Task
from nuggets.models import NuggetBank
from tests.llm.grading import make_job, make_judge

pytestmark = pytest.mark.django_db
TOKEN = "a token of the monitoring"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
Samples = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture(autouse=True)
def _token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def read() -> Samples:
    """Return the value of every sample, by name and the values of its labels."""
    answer = Client().get("/metrics", headers=HEADERS)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    families = list(text_string_to_metric_families(answer.content.decode()))
    assert all(family.documentation for family in families)
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, tuple(sample.labels.values())): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def ago(seconds: int) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


def test_without_the_right_token_it_is_not_there(settings: Any):
    client = Client()
    elsewhere = client.get("/nowhere").content
    for header in ("", TOKEN, f"Bearer {TOKEN}x", "Bearer ", "Bearer \u00e9", f"Basic {TOKEN}"):
        answer = client.get("/metrics", headers={"Authorization": header})
        assert (answer.status_code, answer.content) == (404, elsewhere), header
    settings.METRICS_TOKEN = ""
    for header in ("", "Bearer ", f"Bearer {TOKEN}"):
        assert client.get("/metrics", headers={"Authorization": header}).status_code == 404, header


def test_an_empty_installation():
    samples = read()
    assert samples["assay_info", (program_version(),)] == 1
    assert {value for (name, _), value in samples.items() if name != "assay_info"} == {0}
    assert {labels for name, labels in samples if name == "assay_jobs"} == {(state,) for state in Job.State.values}


def test_jobs_their_units_and_the_processes_at_work(campaign: Campaign):
    judge = make_judge(campaign, "http://127.0.0.1:9/v1")
    old = make_job(judge)
    Job.objects.filter(pk=old.pk).update(
        state="done", units_total=20, units_done=17, units_failed=3, calls=25, tokens_in=900, tokens_out=80
    )
    halted = Job.objects.create(campaign=campaign, kind=old.kind, condition=old.condition, judge=judge)
    Job.objects.filter(pk=halted.pk).update(state="halted", units_total=9, units_done=4, calls=4, tokens_in=100)
    running = Job.objects.create(campaign=campaign, kind=old.kind, condition=old.condition, judge=judge)
    Job.objects.filter(pk=running.pk).update(state="running", units_total=10, units_done=1, units_failed=2)
    # One that nobody took up yet, and one that was, and waits again.
    for created, started in ((ago(100), None), (ago(5_000), ago(4_000))):
        job = Job.objects.create(campaign=campaign, kind=old.kind, condition=old.condition, judge=judge)
        Job.objects.filter(pk=job.pk).update(units_total=2, created_at=created, started_at=started)
    for seats, silent in ((6, 1), (2, 300)):
        Runner.objects.create(job=running, judge=judge, owner="x 1 y:1", seats=seats, alive_at=ago(silent))
    samples = read()
    jobs = {labels[0]: value for (name, labels), value in samples.items() if name == "assay_jobs"}
    assert jobs == {"waiting": 2, "running": 1, "paused": 0, "halted": 1, "done": 1, "cancelled": 0}
    units = {labels[0]: value for (name, labels), value in samples.items() if name == "assay_job_units"}
    assert units == {"to_do": 7 + 2 + 2, "done": 17 + 4 + 1, "failed": 3 + 2}
    assert samples["assay_model_calls_total", ()] == 29
    assert samples["assay_model_tokens_total", ("in",)] == 1_000
    assert samples["assay_model_tokens_total", ("out",)] == 80
    assert samples["assay_runners", ()] == 2
    assert samples["assay_runner_seats", ()] == 8
    assert samples["assay_runner_silence_seconds", ()] == pytest.approx(300, abs=20)
    assert samples["assay_oldest_waiting_seconds", ("job",)] == pytest.approx(100, abs=20)


def test_what_waits_for_a_worker(campaign: Campaign):
    before = read()
    for state, waited in (("waiting", 50), ("waiting", 700), ("held", 9_000), ("refused", 9_000)):
        one = Import.objects.create(campaign=campaign, kind="topics", file_name="x", state=state)
        Import.objects.filter(pk=one.pk).update(created_at=ago(waited))
    for state in ("waiting", "failed", "failed"):
        Export.objects.create(campaign=campaign, kind="nuggets", file_name="x", at_once=False, state=state)
    samples = read()
    done = before["assay_background_work", ("import", "done")]
    imports, exports = (
        {labels[1]: value for (name, labels), value in samples.items() if labels[:1] == (kind,) and labels[1:]}
        for kind in ("import", "export")
    )
    assert imports == {
        **{"held": 1, "waiting": 2, "running": 0, "done": done},
        **{"checked": 0, "refused": 1, "stopped": 0, "interrupted": 0},
    }
    assert exports == {"waiting": 1, "running": 0, "done": 0, "stopped": 0, "failed": 2}
    assert samples["assay_oldest_waiting_seconds", ("import",)] == pytest.approx(700, abs=20)
    assert samples["assay_oldest_waiting_seconds", ("export",)] == pytest.approx(0, abs=20)
    assert samples["assay_oldest_waiting_seconds", ("calibration",)] == 0


def test_what_people_did_and_nothing_of_who_they_are(bank: NuggetBank, anna: Person):
    Task.objects.update(done=3, state="finished")
    samples = read()
    assert samples["assay_tasks", ("finished",)] == Task.objects.count() > 0
    assert samples["assay_task_items_done", ()] == 3 * Task.objects.count()
    text = Client().get("/metrics", headers=HEADERS).content.decode()
    condition, topic = bank.condition, bank.topic
    for word in (anna.username, condition.name, condition.campaign.slug, topic.title):
        assert word not in text


def test_it_asks_the_same_of_a_larger_campaign(campaign: Campaign):
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            read()
        return len(asked)

    first = queries()
    make_job(make_judge(campaign, "http://127.0.0.1:9/v1"))
    for number in range(5):
        Export.objects.create(campaign=campaign, kind="nuggets", file_name=f"{number}", at_once=False)
    assert queries() == first == 7
