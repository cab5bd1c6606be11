"""When what is repeated is due: nothing waits until a clock that was set back has caught up, or fills a queue."""

from typing import Any

from celery.beat import PersistentScheduler
from celery.utils.time import maybe_make_aware

from assessor.runtime.hints import is_full


class Scheduler(PersistentScheduler):
    """Celery's own, but what it ran at a time that is yet to come counts as run now.

    Its own would send nothing until then: jobs, imports and exports whose worker died would wait as long.
    """

    def tick(self, *args: Any, **options: Any) -> float:
        """Send what is due; return the seconds until the next look."""
        for entry in self.schedule.values():
            now, ran_at = entry.default_now(), entry.last_run_at
            if ran_at is not None and maybe_make_aware(ran_at) > maybe_make_aware(now):
                entry.last_run_at = now
                self._heap = None  # it holds the times of the old clock
        return float(super().tick(*args, **options))

    def apply_async(self, *args: Any, **options: Any) -> Any:
        """Send a look to the workers, unless their queue is full."""
        return None if is_full("celery") else super().apply_async(*args, **options)
