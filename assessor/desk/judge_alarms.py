"""Alarms on what models reply and label: too many replies that can't be read, other labels than before, drift."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from django.db.models import Count
from django.urls import reverse

from assessor.campaigns.models import Campaign
from assessor.labels.given_labels import counts_of_jobs
from assessor.labels.label_kind import LabelKind, label_kinds
from assessor.llm.models import Call, Job
from assessor.runtime.process_cache import cache
from assessor.studies.control_sets import standing_alarms
from metaeval.stats.monitoring import ALPHA, WRONG, binomial_p, compare_shares

_STORED = 3_600  # seconds


class JudgeAlarm(NamedTuple):
    """An alarm on a job or a control set: the fact, the figures, what to do, since when, and its page."""

    job: str
    fact: str
    figure: str
    advice: str
    since: datetime | None
    address: str
    what: str = "job"


def judge_alarms(campaign: Campaign, state: str) -> list[JudgeAlarm]:
    """Return the alarms on the newest job of each condition. state: the name of the Overview's."""
    return cache.get_or_set(f"judge-alarms.{state}", lambda: list(_found(campaign)), timeout=_STORED)  # type: ignore[no-any-return]


def _found(campaign: Campaign) -> Iterator[JudgeAlarm]:
    work = campaign.jobs.exclude(state=Job.State.CANCELLED).select_related("condition", "judge__judge")
    jobs = [job for job in work if not job.condition.is_control]
    yield from _wrong_replies(campaign, list({job.condition_id: job for job in reversed(jobs)}.values()))
    for kind in label_kinds():
        yield from _other_labels(campaign, kind, [job for job in jobs if job.condition.kind == kind.name])
    yield from _drift(campaign)


def _wrong_replies(campaign: Campaign, jobs: Sequence[Job]) -> Iterator[JudgeAlarm]:
    """Yield jobs of whose replies more were wrong than chance makes of the share that may be."""
    outcomes = (Call.Outcome.GOOD, Call.Outcome.WRONG)
    calls = Call.objects.filter(job__in=jobs, outcome__in=outcomes).order_by()
    counted = {(job, outcome): n for job, outcome, n in calls.values_list("job", "outcome").annotate(Count("pk"))}
    for job in jobs:
        good, wrong = (counted.get((job.pk, outcome), 0) for outcome in outcomes)
        # Where no more are wrong than may be, SciPy is not loaded to say so.
        if wrong > WRONG * (good + wrong) and binomial_p(wrong / (good + wrong), good + wrong, WRONG)[1] <= ALPHA:
            yield JudgeAlarm(
                str(job),
                "gives many replies that can't be read",
                f"{wrong:,} of {good + wrong:,} replies, {100 * WRONG:.0f} % may be",
                "Look at its calls: a longer limit of tokens or another prompt may help.",
                job.started_at,
                _page(campaign, job),
            )


def _other_labels(campaign: Campaign, kind: LabelKind, jobs: Sequence[Job]) -> Iterator[JudgeAlarm]:
    """Yield jobs whose labels have other shares than the last job's, of the same judge, prompts and nuggets."""
    alike: dict[tuple[object, ...], list[Job]] = defaultdict(list)
    for job in (job for job in jobs if job.state not in Job.ACTIVE):  # the newest first
        condition = job.condition
        alike[job.kind, job.judge_id, condition.nuggets_id, *sorted(condition.prompts.items())].append(job)
    pairs = [of_one[:2] for of_one in alike.values() if len(of_one) > 1]
    both = [job for pair in pairs for job in pair]
    # Labels of jobs that are over stay: they are counted once, and not for each state of a campaign.
    named = ".".join(f"{job.pk}-{job.units_done}" for job in both)
    key = f"labels-of-jobs.{campaign.pk}.{kind.name}.{sha256(named.encode()).hexdigest()}"
    counts = cache.get_or_set(key, lambda: counts_of_jobs(kind, both), timeout=_STORED)
    for newest, before in pairs:
        was, now = (_table(counts.get(job.pk, {}), kind.labels) for job in (before, newest))
        p = compare_shares(was, now)
        if p is not None and p <= ALPHA:
            old, new = (100 * table.sum(axis=0) / table.sum() for table in (was, now))
            most = int(np.argmax(abs(new - old)))
            yield JudgeAlarm(
                str(newest),
                "labels otherwise than the job before",
                f"{kind.labels[most]} {new[most]:.0f} %, {old[most]:.0f} % before",
                "The topics may be different, or the endpoint has another model now. Compare labels of the same kind.",
                newest.started_at,
                _page(campaign, newest),
            )


def _drift(campaign: Campaign) -> Iterator[JudgeAlarm]:
    """Yield control sets whose judge labelled otherwise than before when they were asked last."""
    for check in standing_alarms(campaign):
        judge = check.control.study.first.judge
        yield JudgeAlarm(
            f"Control set {check.control}",
            f"shows that {judge} labels otherwise than before",
            f"{check.flips:,} of {check.labels:,} labels differ from the first ones, {check.expected:.3g} did before",
            "Ask it once more. If the alarm stays, the endpoint has another model: name its exact version in a new"
            " judge, and label anew.",
            check.at,
            reverse("control_set", args=[campaign.slug, check.control_id]),
            "control set",
        )


def _table(counts: Mapping[tuple[int, str], int], labels: Sequence[str]) -> np.ndarray:
    """Return counts by topic and label as an array."""
    topics = {topic: place for place, topic in enumerate({topic for topic, _ in counts})}
    table = np.zeros((len(topics), len(labels)))
    for (topic, value), number in counts.items():
        if value in labels:
            table[topics[topic], labels.index(value)] = number
    return table


def _page(campaign: Campaign, job: Job) -> str:
    return reverse("job", args=[campaign.slug, job.pk])
