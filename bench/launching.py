"""For how long nobody else can save while a job over all answers of a track is launched, on SQLite.

    python -m bench.launching [--scale 0.1] [--keep FOLDER]

SQLite has one write lock: told are the longest time for which the launch holds it, and all such times together, by the
clock and in CPU seconds. Then the same of a second launch, which finds nothing to do.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bench import house, scores

LONGEST, ALL = 0.2, 10.0  # seconds


class Held(NamedTuple):
    """For how long the write lock was held in one transaction: seconds, and seconds of CPU."""

    seconds: float
    cpu: float


@contextmanager
def watched_lock() -> Iterator[list[Held]]:
    """Yield a list to which each transaction of this process is added that ends."""
    from django.db import connection

    begin, commit = connection._start_transaction_under_autocommit, connection.commit  # type: ignore[attr-defined]
    begun, held = Held(0, 0), []

    def now() -> Held:
        return Held(time.perf_counter(), time.process_time())

    def timed_begin() -> None:
        nonlocal begun
        begin()
        begun = now()

    def timed_commit() -> None:
        commit()
        held.append(Held(*(end - start for start, end in zip(begun, now(), strict=True))))

    connection._start_transaction_under_autocommit, connection.commit = timed_begin, timed_commit  # type: ignore[attr-defined, method-assign]
    try:
        yield held
    finally:
        connection._start_transaction_under_autocommit, connection.commit = begin, commit  # type: ignore[attr-defined, method-assign]


def report() -> int:
    """Launch twice and print everything; return how many figures are over their limits."""
    from assessor.campaigns.models import Campaign
    from assessor.llm.actions import JobError, create_judge, launch, plan_job
    from assessor.llm.job_kind import job_kind_named
    from assessor.llm.models import Job

    campaign = Campaign.objects.get(slug=house.SLUG)
    parameters = {"model": "m", "temperature": 0.0, "max_tokens": 100, "limit_name": "max_tokens", "structured": False}
    url = {"base_url": "http://127.0.0.1:9/v1"}
    name = f"judge {campaign.model_judges.count() + 1}"
    judge = create_judge(campaign=campaign, name=name, parameters=parameters, settings=url, acting_user=None)
    over = 0
    for what in ("all of it", "nothing to do"):
        plan = plan_job(
            kind=job_kind_named("AutoAssign"),
            judge=judge,
            name=name,
            qrels_source=None,
            topics=list(campaign.topics.all()),
            nuggets=campaign.conditions.get(name=scores.NUGGETS.name),
        )
        with watched_lock() as held:
            try:
                job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
                units = job.units_total
            except JobError:
                units = 0
        longest, cpu = max(one.seconds for one in held), max(one.cpu for one in held)
        whole, whole_cpu = (sum(each) for each in zip(*held, strict=True))
        over += (longest > LONGEST) + (whole > ALL)
        print(
            f"{what}: {units:,} units; lock held {len(held)} times, at most {longest:.2f} s (CPU {cpu:.2f}; limit "
            f"{LONGEST}), {whole:.1f} s in all (CPU {whole_cpu:.1f}; limit {ALL:.0f})"
        )
        # As if all had been labelled.
        from assignment.models import AnswerSheet

        AnswerSheet.in_or_out.filter(condition=job.condition).update(to_do=0)
        Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    return over


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    house.measure(house.arguments(__doc__, ()).parse_args(), scores.load, report)
