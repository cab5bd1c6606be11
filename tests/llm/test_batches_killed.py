"""Batches whose process dies: nothing is sent twice, and nothing is lost."""

from pathlib import Path

import pytest

from assessor.llm import batches, runner
from assessor.llm.batch_gateway import BatchGateway
from assessor.llm.models import Batch, Job
from tests.llm.grading import make_judge
from tests.llm.killed_batches import killed
from tests.llm.test_batches import batched, ended, study, whole  # noqa: F401  # a fixture


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("dies_in", ["upload", "create", "retrieve", "fetch_file", "delete_file"])
def test_what_a_process_left_is_taken_up_wherever_it_died(study, endpoint, monkeypatch, dies_in: str):  # noqa: F811
    """It dies when the provider has done what it was asked, and before that is written down."""
    server = endpoint()
    job = batched(make_judge(study, server.base_url))
    runner.run_job(job.pk)
    asked = getattr(BatchGateway, dies_in)

    def dies(*words):
        asked(*words)
        monkeypatch.setattr(BatchGateway, dies_in, asked)
        raise SystemExit

    monkeypatch.setattr(BatchGateway, dies_in, dies)
    with pytest.raises(SystemExit):
        _looks(job)
    assert Batch.objects.get().state == Batch.State.RUNNING
    job = ended(job)
    whole(job, server)
    assert len(server.of("batch_created")) == 1
    assert Job.objects.get().batches.get().input_file == ""


def _looks(job: Job) -> None:
    for _ in range(20):
        batches.work_on(job.pk)
        Batch.objects.update(look_at="2020-01-01T00:00Z")


@pytest.mark.django_db
def test_a_job_in_batches_survives_kills(tmp_path: Path):
    found = killed(tmp_path, units=300, files=3, kills=4, seed=3, longest=6)
    assert len(found.sizes) == 3
