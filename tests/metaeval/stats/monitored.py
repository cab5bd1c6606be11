"""Generated assessors: careful ones, and ones who become careless, fast, uniform, stricter or different."""

from typing import NamedTuple

import numpy as np

from metaeval.stats import monitoring
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.monitoring import Finding, Work

TOPICS, ANSWERS, NUGGETS = 8, 45, 10  # a topic's answers and nuggets: 360 answers in a week
LABELS = 3
EVERY = 20  # of which answers one is labelled again: 18 answers, 180 labels a week
SELF = 0.22  # of what differs when a person labels an item again, relative to items
BETWEEN = 0.25  # standard deviation of a topic's own effect on how strictly people label, in that of an item


class Fault(NamedTuple):
    """What becomes of an assessor after some answers. shift: how much stricter; again: share of labels at random."""

    after: int = 10**6
    shift: float = 0.0
    again: float = 0.0
    is_fast: bool = False
    is_uniform: bool = False


CAREFUL = Fault()


class Week(NamedTuple):
    """A week of an assessor, and which of the labels that were given again agree: by answer."""

    work: Work
    agreed: list[int]
    sizes: list[int]
    again: list[int]  # after how many answers of the week each of these was


def label(values: np.ndarray) -> np.ndarray:
    """Return labels 0, 1, 2 of values: about 60, 5 and 35 %, as in the TREC 2024 RAG track."""
    return (values > 0.3).astype(np.int8) + (values > 0.45)


def play_week(rng: np.random.Generator, fault: Fault = CAREFUL, every: int = EVERY) -> Week:
    """Return a week of an assessor, of which a model labelled all and has a strictness of its own on each topic."""
    shape = (TOPICS, ANSWERS, NUGGETS)
    truth = (
        rng.normal(0, 0.35, (TOPICS, 1, 1))
        + rng.normal(0, 0.7, (TOPICS, ANSWERS, 1))
        + rng.normal(0, 0.7, (TOPICS, 1, NUGGETS))
        + rng.normal(0, 0.9, shape)
    )
    steady = truth + rng.normal(0, 0.3, shape) + rng.normal(0, BETWEEN / 2, (TOPICS, 1, 1))
    own = steady + rng.normal(0, SELF, shape)
    model = truth + rng.normal(0, 0.4, shape) + rng.normal(0.15, BETWEEN / 2, (TOPICS, 1, 1))
    number = np.arange(TOPICS * ANSWERS).reshape(TOPICS, ANSWERS, 1)
    is_late = np.broadcast_to(number >= fault.after, shape)
    first = label(own - fault.shift * is_late)
    first = np.where(is_late & (rng.random(shape) < fault.again), rng.integers(0, LABELS, shape), first)
    second = label(steady + rng.normal(0, SELF, shape))
    second = np.where(is_late & (rng.random(shape) < fault.again), rng.integers(0, LABELS, shape), second)
    if fault.is_uniform:
        first = np.where(is_late, 0, first)
    seconds = np.round(rng.lognormal(np.log(6), 0.8, shape))
    if fault.is_fast:
        seconds = np.where(is_late, rng.integers(0, 2, shape), seconds)
    topic = np.broadcast_to(np.arange(TOPICS).reshape(-1, 1, 1), shape)
    work = Work(
        topic.ravel(),
        np.broadcast_to(number, shape).ravel(),
        first.ravel().astype(np.int8),
        seconds.ravel(),
        label(model).ravel(),
        np.ones(first.size, dtype=bool),
        list(range(TOPICS)),
    )
    equal = (first == second).reshape(-1, NUGGETS).sum(axis=1)
    again = range(every - 1, TOPICS * ANSWERS, every)
    return Week(work, [int(equal[at]) for at in again], [NUGGETS] * len(again), [at + 1 for at in again])


def joined(weeks: list[Week]) -> Work:
    """Return the work of several people, whose topics are different ones."""
    parts = [week.work._replace(topic=week.work.topic + number * TOPICS) for number, week in enumerate(weeks)]
    columns = [np.concatenate(column) for column in list(zip(*parts, strict=True))[:-1]]
    return Work(*columns, [])


def unpaired(work: Work) -> Work:
    """Return the same work where no model labelled anything."""
    nothing = np.full(len(work.code), NO_VALUE, dtype=np.int8)
    return work._replace(reference=nothing, is_models=np.zeros(len(work.code), dtype=bool))


def watch(week: Week, others: Work, people: int = 5) -> list[Finding]:
    """Return what all checks find of a week."""
    return monitoring.watch(week.work, others, LABELS, week.agreed, week.sizes, people)
