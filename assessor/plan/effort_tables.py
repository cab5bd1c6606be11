"""Effort as its page shows it: times in words, and a table of topics that can be sorted."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Topic
from assessor.plan.effort import STATES, Effort, Group, Spent, group, person_rows, rows
from assessor.plan.hours import HOUR, LEAST_FOR_OUTLIERS
from assessor.scores.page_tables import Cell, Column, Line, Listing
from assessor.work.models import Task
from assessor.work.queries import minutes

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

_NONE = "—"
FIGURE = "hours"
ALL = "all"  # the column of a topic's whole time
TOO_FEW = f"fewer than {LEAST_FOR_OUTLIERS} finished"


class GroupRow(NamedTuple):
    """A row about tasks that are told together.

    whole: whose work of all conditions it is, and name: of which condition; one of both. of: whose the condition's is.
    cells: finished tasks, time, median of a task, median of an item, outliers.
    """

    whole: str
    name: str
    of: str
    cells: list[Cell]


def condition_rows(found: Effort) -> list[GroupRow]:
    """Return each kind of work, with its conditions."""
    told = []
    for one in rows(found):
        if one.is_kind:
            told.append(GroupRow(f"all {one.name}", "", "", _cells(one.kind, one.group)))
        else:
            limit = f"over {duration(one.limit)}" if one.limit is not None else TOO_FEW
            number = _NONE if one.limit is None else str(one.group.outliers)
            cells = [*_cells(one.kind, one.group)[:-1], Cell(number, True, [limit])]
            told.append(GroupRow("", one.name, one.kind, cells))
    return told


def people_rows(found: Effort) -> list[GroupRow]:
    """Return each person, with the conditions they worked under."""
    told = []
    for one in person_rows(found):
        beside = [f"for practice, beside it {minutes(one.practice)}"] if one.practice else []
        whole = "" if one.condition else one.person
        told.append(GroupRow(whole, one.condition, one.person, _cells(one.kind, one.group, beside)))
    return told


def _cells(kind: str, told: Group, beside: Sequence[str] = ()) -> list[Cell]:
    rest = [f"{state} {minutes(told.seconds[state])}" for state in STATES[1:] if told.seconds[state]]
    # A task without an item has no time for one, and is in neither median.
    of = [f"of {told.of}"] if told.topic is not None and told.of != told.finished else []
    return [
        Cell(str(told.finished), True),
        Cell(minutes(told.total), True, [*rest, *beside]),
        Cell(_NONE if told.topic is None else duration(told.topic), True, of),
        Cell(_NONE, True) if told.item is None else Cell(duration(told.item), True, [kind_named(kind).counted]),
        Cell(str(told.outliers), True),
    ]


def duration(seconds: float) -> str:
    """Return a time as people say it, to the second where it is less than an hour."""
    whole = round(seconds)
    if whole >= HOUR:
        return minutes(whole)
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{seconds:.1f} s"


def topics_listing(found: Effort, topics: Iterable[Topic]) -> Listing:
    """Return a line for each topic with its time under each condition; those for practice apart."""
    columns = [Column("topic", "Topic", is_number=False), Column(ALL, "In all")]
    columns += [Column(f"c{one.pk}", one.name) for one in found.conditions]
    of: dict[int, dict[int, list[Spent]]] = defaultdict(lambda: defaultdict(list))
    for task in (*found.work, *found.practice):
        of[task.topic_id][task.condition_id].append(task)
    lines: list[Line] = []
    apart: list[Line] = []
    for topic in topics:
        (apart if topic.is_practice else lines).append(_line(found, topic, of[topic.pk]))
    groups = [group(found.of_condition(one), one.kind, found.over) for one in found.conditions]
    in_all = [one.total for one in groups]
    medians = [_NONE if one.topic is None else duration(one.topic) for one in groups]
    over = [
        Line("in all", None, "", [Cell(minutes(one), True) for one in (sum(in_all), *in_all)], []),
        Line("median of a finished task", None, "", [Cell(one, True) for one in ("", *medians)], []),
    ]
    return Listing(columns, lines, over, apart)


def _line(found: Effort, topic: Topic, of_topic: dict[int, list[Spent]]) -> Line:
    whole = sum(_seconds(tasks) for tasks in of_topic.values())
    cells = [Cell(minutes(whole), True)]
    values: list[str | float | None] = [topic.qid, whole]
    for condition in found.conditions:
        tasks = of_topic[condition.pk]
        cells.append(_cell(tasks, found.over))
        values.append(_seconds(tasks) if tasks else None)
    return Line(topic.qid, None, topic.title, cells, values)


def _cell(tasks: Sequence[Spent], over: set[int]) -> Cell:
    mark = "outlier" if any(task.pk in over for task in tasks) else ""
    return Cell(minutes(_seconds(tasks)), True, _notes(tasks), mark)


def _notes(tasks: Sequence[Spent]) -> list[str]:
    """Return what of a cell's work is not finished, each with its time where there is more than that."""
    told = []
    for state in STATES[1:]:
        if of_state := [task for task in tasks if task.stands == state]:
            told.append(state if len(of_state) == len(tasks) else f"{state} {minutes(_seconds(of_state))}")
    return told


def _seconds(tasks: Iterable[Spent]) -> int:
    return sum(task.seconds for task in tasks)


def figure(found: Effort) -> "NamedFigure":
    """Return the hours of all finished tasks, by condition."""
    from metaeval.charts.figures import Durations, NamedFigure, hours_figure

    durations = []
    for condition in found.conditions:
        tasks = [task for task in found.of_condition(condition) if task.state == Task.State.FINISHED and task.seconds]
        known = group(tasks, condition.kind, found.over).topic
        if known is not None:
            limit = found.limits[condition.pk]
            names = [f"{task.topic__qid}, {task.person__username}" for task in tasks]
            hours = [task.seconds / HOUR for task in tasks]
            longest = None if limit is None else limit / HOUR
            durations.append(Durations(condition.name, hours, names, known / HOUR, longest))
    return NamedFigure(FIGURE, "How long finished tasks took, by condition", hours_figure(durations))
