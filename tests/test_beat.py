"""What is repeated, when the clock is set back, and when nobody does it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from kombu import Queue

from assessor.celery import app
from assessor.runtime.beat import Scheduler
from assessor.runtime.hints import MOST


def test_nothing_waits_until_a_clock_that_was_set_back_has_caught_up(tmp_path: Path):
    class Watched(Scheduler):
        def apply_entry(self, entry: Any, producer: Any = None) -> None:
            sent.append(entry.task)

        producer = None

    sent: list[str] = []
    scheduler = Watched(app=app, schedule_filename=str(tmp_path / "beat"))
    ours = [scheduler.schedule[name] for name in settings.CELERY_BEAT_SCHEDULE]
    for entry in ours:
        entry.last_run_at = entry.default_now() + timedelta(hours=2)
    longest = max(entry.schedule.run_every.total_seconds() for entry in ours)
    assert scheduler.tick() <= longest
    for entry in ours:
        assert entry.last_run_at <= entry.default_now()
        entry.last_run_at -= timedelta(seconds=longest)
    scheduler._heap = None  # as if that time had passed
    while scheduler.tick() == 0:
        pass
    scheduler.close()
    assert {entry.task for entry in ours} <= set(sent)


@pytest.mark.usefixtures("empty_queues")
def test_a_queue_that_nobody_empties_keeps_few_looks(tmp_path: Path):
    scheduler = Scheduler(app=app, schedule_filename=str(tmp_path / "beat"))
    [entry, *_] = [scheduler.schedule[name] for name in settings.CELERY_BEAT_SCHEDULE]
    with app.connection_for_write() as connection:
        queue = Queue("celery")(connection.channel())
        for _ in range(MOST + 5):
            scheduler.apply_entry(entry, producer=scheduler.producer)
        assert queue.purge() == MOST
        scheduler.apply_entry(entry, producer=scheduler.producer)
        assert queue.purge() == 1
    scheduler.close()
