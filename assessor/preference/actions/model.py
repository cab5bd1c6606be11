"""What a model's job writes: pairs when it is launched, verdicts when they come. Called in the job's transactions."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Max
from django.utils import timezone

from assessor.campaigns.models import Condition, Topic
from assessor.imports.loaders.base import insert
from assessor.llm.models import Job
from assessor.preference.models import LabelEvent, PreferencePair
from assessor.preference.queries import new_pairs
from assessor.preference.verdicts import preference

_PAIR = (
    "condition",
    "topic",
    "first",
    "second",
    "position",
    "second_stood_first",
    "by_rule",
    "version",
    "value",
    "state",
)


class Verdicts(NamedTuple):
    """What a model said of a pair, by key: in the order of the pair, and the other way round if that was asked."""

    pair: int
    verdict: str
    reversed_verdict: str | None


def add_pairs(condition: Condition, topics: Sequence[Topic]) -> int:
    """Write the pairs of topics that a condition lacks, behind those that it has; return how many were written.

    What follows from a rule is said of them at once.
    """
    last = (
        PreferencePair.everything.filter(condition=condition).order_by().values_list("topic").annotate(Max("position"))
    )
    position: dict[int, int] = defaultdict(int, {topic: place + 1 for topic, place in last})
    rows = []
    for new in new_pairs(condition, topics):
        state = PreferencePair.State.OPEN if new.value is None else PreferencePair.State.GIVEN
        place = (new.topic, new.first, new.second, position[new.topic], new.second_stood_first)
        rows.append((condition.pk, *place, new.value is not None, 0, new.value, state.value))
        position[new.topic] += 1
    insert(PreferencePair, _PAIR, rows)
    return len(rows)


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
