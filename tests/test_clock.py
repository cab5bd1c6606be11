"""Machines whose clocks are an hour apart: one goes by PostgreSQL's."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from assessor.campaigns.models import Campaign
from assessor.exports import actions as exports
from assessor.imports import importer
from assessor.llm import claims, limits
from assessor.llm.models import Runner
from assessor.runtime.clock import shared_now
from tests.llm.grading import make_job, make_judge

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="on SQLite all processes share one machine")


@pytest.fixture(params=[1, -1])
def set_clock(request: pytest.FixtureRequest, time_machine) -> Callable[[], None]:
    """Return what sets this machine's clock to an hour and a minute ahead, or back."""
    apart = request.param * timedelta(hours=1, minutes=1)
    return lambda: time_machine.move_to(timezone.now() + apart)


def test_who_works_elsewhere_lives_and_who_is_silent_does_not(campaign: Campaign, set_clock):
    job = make_job(make_judge(campaign, concurrency=8))

    def runner_of(host: str, silent: timedelta) -> Runner:
        alive_at = timezone.now() - silent
        return Runner.objects.create(job=job, judge=job.judge, owner=f"{host} 1 b:5.0", alive_at=alive_at)

    living, _ = runner_of("one", timedelta()), runner_of("other", timedelta(minutes=2))
    set_clock()
    assert claims.reap_dead_runners() == 1
    assert list(Runner.objects.all()) == [living]
    assert limits.share(living, 0) is not None
    living.refresh_from_db()
    assert abs(living.alive_at - shared_now()) < timedelta(seconds=30)


@pytest.mark.django_db
def test_files_that_are_being_written_elsewhere_stay(settings, set_clock):
    new = [Path(settings.DATA_DIR) / name for name in ("uploads/new.upload", "exports/1.1.part")]
    for path in new:
        path.touch()
    set_clock()
    importer.sweep()
    exports.sweep()
    assert [path.exists() for path in new] == [True, True]
    for path in new:
        path.unlink()
