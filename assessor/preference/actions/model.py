"""What a model's job writes: verdicts, when they come. Called in the job's transactions."""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils import timezone

from assessor.llm.models import Job
from assessor.preference.models import LabelEvent, PreferencePair
from assessor.preference.verdicts import preference


class Verdicts(NamedTuple):
    """What a model said of a pair, by key: in the order of the pair, and the other way round if that was asked."""

    pair: int
    verdict: str
    reversed_verdict: str | None


def store_verdicts(job: Job, said: Sequence[Verdicts]) -> None:
    """Write what a job's model said of pairs of which nothing is said yet."""
    by_pair = {one.pair: one for one in said}
    locked = PreferencePair.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=by_pair).order_by("pk")
    pairs = [pair for pair in locked if pair.state == PreferencePair.State.OPEN]
    now, judge = timezone.now(), job.judge.judge
    for pair in pairs:
        _, pair.verdict, pair.reversed_verdict = by_pair[pair.pk]
        verdicts = pair.verdict, pair.reversed_verdict
        pair.stand({"label": preference(verdicts, second_stood_first=pair.second_stood_first)})
        pair.version, pair.judge, pair.job, pair.at = pair.version + 1, judge, job, now
    changed = ("verdict", "reversed_verdict", "value", "state", "version", "judge", "job", "at")
    PreferencePair.objects.bulk_update(pairs, changed)
    LabelEvent.objects.bulk_create(
        LabelEvent(
            pair=pair,
            version=pair.version,
            verb="label",
            judge=judge,
            job=job,
            state_before=PreferencePair.State.OPEN,
            value=pair.value,
            state=pair.state,
            verdict=pair.verdict,
            reversed_verdict=pair.reversed_verdict,
        )
        for pair in pairs
    )
