"""Alarms on the labels that people give, for the organizer alone: what is watched, what it found, and what to do.

All of it is computed anew from labels. What a model gave counts only on topics that its judge and the person have both
finished, so that nothing an organizer reads here could unblind work that is under way.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from assessor.campaigns.condition_kind import kind_named, kind_of
from assessor.campaigns.models import Campaign, Condition
from assessor.formats.tables import write_table
from assessor.labels.given_labels import GivenLabel, Item, labels_of_models, labels_of_people
from assessor.labels.label_kind import LabelKind, label_kinds
from assessor.labels.models import ManualSetup
from assessor.runtime.process_cache import cache
from assessor.training.queries import compare, practised, references
from assessor.work.models import Task
from assessor.work.queries import Counted, counted
from metaeval.stats import monitoring
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.monitoring import Check, Finding, Work

_STORED = 3_600  # seconds
_DIGITS = 4  # of figures in the file
_NAMED = 2  # people and kinds of work on the Overview


class Told(NamedTuple):
    """What pages say of a check: its name, what is looked at, the fact of an alarm, and what to do then."""

    name: str
    looks_at: str
    fact: str
    advice: str


CHECKS = {
    Check.AGREEMENT: Told(
        "Agreement with own and gold labels",
        "labels given again, and practice that has a reference",
        "labels the same items differently too often",
        "Go through some of these items together, with the guidelines. Let a second person label part of the topics.",
    ),
    Check.SHARES: Told(
        "Share of a label",
        "labels on signed-off topics, beside other people's",
        "gives a label more often or less often than others do",
        "Read some of these labels: the topics may be different. If they are not, go through the guidelines together.",
    ),
    Check.MODEL: Told(
        "Agreement with a model",
        "labels on topics that both have finished",
        "agrees with the model less than others do",
        "The model may be wrong. Have a sample judged again, blind; never tell the person what the model gave.",
    ),
    Check.SPEED: Told(
        "Time for a label",
        f"labels of less than {monitoring.FAST} s, {monitoring.IN_A_ROW} in a row",
        f"gave {monitoring.IN_A_ROW} labels in a row in less than {monitoring.FAST} s each",
        "Read these labels. If they are careless, withdraw the topic and give it to somebody else.",
    ),
    Check.EQUAL: Told(
        "Equal labels in a row",
        f"{monitoring.IN_A_ROW} equal labels in a row, beside others' of the same items",
        f"gave {monitoring.IN_A_ROW} equal labels in a row where others gave different ones",
        "Read these labels. If they are careless, withdraw the topic and give it to somebody else.",
    ),
    Check.DRIFT: Told(
        "Drift",
        "how strict labels of an answer are, beside others' of the same items",
        "labels more strictly or less strictly than before",
        "Compare labels from before and after with the guidelines. If they differ, have the topic labelled again.",
    ),
}


class CheckRow(NamedTuple):
    """What a check found of a person's labels of a kind, in words. since: of the alarm that stands; n: of what."""

    check: Check
    label: str
    figure: str
    n: int
    unit: str
    value: float | None
    expected: float | None
    alarms: int
    since: datetime | None
    topic: str
    address: str
    why: str

    @property
    def told(self) -> Told:
        return CHECKS[self.check]


class Watched(NamedTuple):
    """A person's labels of a kind, and all checks of them: those with an alarm that stands first."""

    person: int
    name: str
    kind: str
    title: str
    labels: int
    items: int
    counted: str
    rows: list[CheckRow]

    @property
    def alarms(self) -> list[CheckRow]:
        """The checks whose alarm stands."""
        return [row for row in self.rows if row.since]


class Alarm(NamedTuple):
    """What the Overview says of a person's labels of a kind."""

    fact: str
    why: str


def alarms(campaign: Campaign, state: str) -> list[Watched]:
    """Return what is watched in a campaign, people with alarms first. state: the name of the Overview's."""
    found: list[Watched] = cache.get_or_set(f"alarms.{state}", lambda: list(_watched(campaign)), timeout=_STORED)
    return sorted(found, key=lambda one: (not one.alarms, one.name, one.title))


def facts(watched: Iterable[Watched]) -> Iterator[Alarm]:
    """Yield what stands: a sentence for each person and kind, or one for all where these are many."""
    alarming = [one for one in watched if one.alarms]
    if len(alarming) > _NAMED:
        names = dict.fromkeys(one.name for one in alarming)
        yield Alarm(f"{sum(len(one.alarms) for one in alarming)} alarms on people's labels.", ", ".join(names))
        return
    for one in alarming:
        number, names = len(one.alarms), dict.fromkeys(row.told.name.lower() for row in one.alarms)
        fact = f"{one.name} {one.alarms[0].told.fact}." if number == 1 else f"{number} alarms on labels of {one.name}."
        yield Alarm(fact, f"{one.title}: {', '.join(names)}")


def alarm_lines(watched: Iterable[Watched]) -> Iterator[str]:
    """Yield all checks as a table; since: when the alarm was raised that stands, if one does."""
    columns = ("person", "kind", "check", "label", "n", "of", "value", "expected", "alarms", "since", "topic", "why")
    lines = (
        (
            one.name,
            one.kind,
            row.check,
            row.label,
            row.n,
            f"{row.unit}s",
            *(None if figure is None else round(figure, _DIGITS) for figure in (row.value, row.expected)),
            row.alarms,
            row.since and row.since.isoformat(),
            row.topic,
            row.why,
        )
        for one in watched
        for row in one.rows
    )
    return write_table(columns, lines)


class _Again(NamedTuple):
    """What of a person's labels was given again or is gold, that was judged at once: how many agree, of how many."""

    at: datetime
    agreed: int
    size: int
    task: int


def _watched(campaign: Campaign) -> Iterator[Watched]:
    tasks = {task.pk: task for task in counted(campaign) if not task.handed_over}
    conditions = campaign.conditions.filter(sample="").select_related("campaign").order_by("pk")
    own = [one for one in conditions if one.method in kind_of(one).peoples_methods]
    repeated = ManualSetup.objects.filter(condition__in=own, purpose=ManualSetup.Purpose.REPEAT)
    again = dict(repeated.values_list("condition", "of"))
    gold = _gold(campaign, tasks)
    for kind in label_kinds():
        of_kind = [one for one in own if one.kind == kind.name]
        if of_kind:
            yield from _watched_of(kind, of_kind, again, tasks, gold[kind.name])


def _watched_of(
    kind: LabelKind,
    conditions: Sequence[Condition],
    again: Mapping[int, int | None],
    tasks: Mapping[int, Counted],
    gold: Sequence[_Again],
) -> Iterator[Watched]:
    """Yield what is watched of a kind. again: of what the conditions are in which people repeat labels, both by key."""
    given: dict[int, list[GivenLabel]] = defaultdict(list)
    repeated: dict[int, list[GivenLabel]] = defaultdict(list)
    for label in labels_of_people(kind, [one.pk for one in conditions]):
        if task := tasks.get(label.task):
            (repeated if label.condition in again else given)[task.person_id].append(label)
    if not given:
        return
    done = {person: _finished(labels, tasks) for person, labels in given.items()}
    beside = _References(kind, conditions, given, done)
    works = {person: beside.work(person, labels, done[person]) for person, labels in given.items()}
    for person, labels in given.items():
        twice = sorted(
            [*_repeats(labels, repeated[person], again), *(one for one in gold if tasks[one.task].person_id == person)]
        )
        others = _joined([work for other, work in works.items() if other != person])
        findings = monitoring.watch(
            works[person],
            others,
            len(kind.labels),
            [one.agreed for one in twice],
            [one.size for one in twice],
            len(given),
        )
        rows = [_row(kind, finding, labels, twice, tasks) for finding in findings if _is_apt(kind, finding)]
        name = tasks[labels[0].task].person__username
        number = len({label.judged for label in labels})
        rows.sort(key=lambda row: not row.since)
        yield Watched(person, name, kind.name, kind.title, len(labels), number, _counted(kind), rows)


def _counted(kind: LabelKind) -> str:
    """Return what people of a kind have before them at once: "answer"."""
    return kind.text_name if kind.judges_answers else kind.item


def _is_apt(kind: LabelKind, finding: Finding) -> bool:
    """Say whether a check tells anything of a kind: people are strict only where labels are in an order."""
    return kind.is_graded or finding.check not in (Check.SHARES, Check.DRIFT)


def _finished(labels: Iterable[GivenLabel], tasks: Mapping[int, Counted]) -> dict[tuple[int, int], None]:
    """Return the conditions and topics that a person signed off, by key, in the order of their last labels."""
    places = {
        (label.condition, label.topic): label.at for label in labels if tasks[label.task].state == Task.State.FINISHED
    }
    return dict.fromkeys(sorted(places, key=lambda place: (places[place], place)))


class _References:
    """What others gave the items that people labelled: other people, else a model on topics that both finished."""

    def __init__(
        self,
        kind: LabelKind,
        conditions: Sequence[Condition],
        given: Mapping[int, Sequence[GivenLabel]],
        done: Mapping[int, Mapping[tuple[int, int], None]],
    ) -> None:
        self._places = {label: place for place, label in enumerate(kind.labels)}
        self._conditions = {one.pk: one for one in conditions}
        self._people: dict[Item, list[tuple[int, int]]] = defaultdict(list)
        everybody = [(person, label) for person, labels in given.items() for label in labels]
        if len({label.condition for _, label in everybody}) > 1:  # under one, nothing is labelled twice
            for person, label in everybody:
                self._people[label.name].append((person, self._places[label.value]))
        finished = {topic for places in done.values() for _, topic in places}
        self._models = labels_of_models(kind, conditions, finished)

    def work(self, person: int, labels: Sequence[GivenLabel], done: Mapping[tuple[int, int], None]) -> Work:
        """Return a person's labels with what others gave the same."""
        topics, answers = _numbers((one.condition, one.topic) for one in labels), _numbers(one.judged for one in labels)
        finished = [topics[place] for place in done]
        found = [self._of(person, label, done) for label in labels]
        return Work(
            np.array([topics[one.condition, one.topic] for one in labels], dtype=np.intp),
            np.array([answers[one.judged] for one in labels], dtype=np.intp),
            np.array([self._places[one.value] for one in labels], dtype=np.int8),
            np.array([np.nan if one.seconds is None else one.seconds for one in labels], dtype=np.float64),
            np.array([code for code, _ in found], dtype=np.int8),
            np.array([is_models for _, is_models in found], dtype=bool),
            finished,
        )

    def _of(self, person: int, label: GivenLabel, done: Mapping[tuple[int, int], None]) -> tuple[int, bool]:
        condition = self._conditions[label.condition]
        if not condition.is_blind():
            return NO_VALUE, False  # who saw a model's label agrees with it
        theirs = next((code for other, code in self._people.get(label.name, ()) if other != person), None)
        if theirs is not None:
            return theirs, False
        if (label.condition, label.topic) in done:
            value = self._models.values.get(condition.nuggets_id or 0, {}).get(label.name)
            if value in self._places:
                return self._places[value], True
        return NO_VALUE, False


def _numbers(names: Iterable[Any]) -> dict[Any, int]:
    """Return a number for each of some names, from 0."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _joined(works: Sequence[Work]) -> Work:
    """Return the labels of several people, whose topics are different ones."""
    start, parts = 0, []
    for work in works:
        parts.append(work._replace(topic=work.topic + start))
        start += int(work.topic.max(initial=-1)) + 1
    types = (np.intp, np.intp, np.int8, np.float64, np.int8, bool)
    nothing = Work._make((*(np.zeros(0, dtype=of) for of in types), []))
    columns = zip(*(part[:-1] for part in (nothing, *parts)), strict=True)
    return Work._make((*map(np.concatenate, columns), []))


def _repeats(
    labels: Iterable[GivenLabel], repeated: Iterable[GivenLabel], again: Mapping[int, int | None]
) -> Iterator[_Again]:
    """Yield what a person judged again, and how far they say the same."""
    first = {(label.condition, label.name): label.value for label in labels}
    pairs: dict[tuple[int, Item], list[tuple[GivenLabel, bool]]] = defaultdict(list)
    for label in repeated:
        before = first.get((again[label.condition] or 0, label.name))
        if before is not None:
            pairs[label.condition, label.judged].append((label, label.value == before))
    for of_one in pairs.values():
        last = of_one[-1][0]
        yield _Again(last.at, sum(agrees for _, agrees in of_one), len(of_one), last.task)


def _gold(campaign: Campaign, tasks: Mapping[int, Counted]) -> dict[str, list[_Again]]:
    """Return what people said on topics for practice that has a reference, by kind."""
    done = [
        task for task in practised(campaign) if task.pk in tasks and task.worked_at and kind_named(task.kind).labels
    ]
    found: dict[str, list[_Again]] = defaultdict(list)
    for one in compare(done, references({task.condition_id for task in done})):
        task = one.task
        told = [item for item in one.items if item.agrees is not None]
        for _, items in groupby(told, key=lambda item: item.answer or item.key):
            agrees = [bool(item.agrees) for item in items]
            assert task.worked_at is not None
            found[task.kind].append(_Again(task.worked_at, sum(agrees), len(agrees), task.pk))
    return found


def _row(
    kind: LabelKind,
    finding: Finding,
    labels: Sequence[GivenLabel],
    twice: Sequence[_Again],
    tasks: Mapping[int, Counted],
) -> CheckRow:
    of_alarm = None
    if finding.since:
        of_alarm = (twice if finding.check == Check.AGREEMENT else labels)[finding.since - 1]
    task = tasks[of_alarm.task] if of_alarm else None
    label = kind.labels[finding.label] if finding.label is not None else ""
    return CheckRow(
        finding.check,
        label,
        _figure(finding),
        finding.n,
        _counted(kind) if finding.check == Check.DRIFT else "label",
        finding.value,
        finding.expected,
        len(finding.raised),
        of_alarm.at if of_alarm else None,
        task.topic__qid if task else "",
        kind.url(Task(pk=task.pk)) if task else "",
        finding.why,
    )


def _figure(finding: Finding) -> str:
    """Return what was found in words; "" of nothing."""
    value, expected = finding.value, finding.expected
    if value is None:
        return ""
    match finding.check:
        case Check.AGREEMENT:
            return f"{_percent(value)} agree, {_percent(monitoring.GOOD)} should"
        case Check.SHARES | Check.MODEL:
            what = " agree" if finding.check == Check.MODEL else ""
            beside = "" if expected is None else f", {_percent(expected)} expected"
            kappa = "" if finding.kappa.value is None else f", κ {finding.kappa.value:.2f}"
            return f"{_percent(value)}{what}{beside}{kappa}"
        case Check.SPEED:
            return f"median {value:.0f} s"
        case Check.EQUAL:
            return f"{_percent(value)} as others gave"
        case _:
            return f"sum {value:+.1f}, alarm at ±{monitoring.DRIFT_LIMIT:.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
