"""Effort as files: times in seconds."""

from collections.abc import Iterator

from assessor.campaigns.models import Campaign
from assessor.campaigns.queries import byte_order
from assessor.formats.tables import write_table
from assessor.plan.effort import STATES, Effort, Group, effort, person_rows, rows


def topic_lines(campaign: Campaign) -> Iterator[str]:
    """Yield the time of each topic under each condition; empty where nobody has or had it."""
    found = effort(campaign)
    seconds: dict[tuple[int, int], int] = {}
    outliers: dict[int, int] = {}
    for task in (*found.work, *found.practice):
        cell = task.topic_id, task.condition_id
        seconds[cell] = seconds.get(cell, 0) + task.seconds
        outliers[task.topic_id] = outliers.get(task.topic_id, 0) + (task.pk in found.over)
    columns = ("topic", "practice", *(one.name for one in found.conditions), "in all", "outliers")
    lines = []
    for pk, qid, is_practice in campaign.topics.order_by(byte_order("qid")).values_list("pk", "qid", "is_practice"):
        cells = [seconds.get((pk, one.pk)) for one in found.conditions]
        whole = sum(cell or 0 for cell in cells)
        lines.append((qid, _is(is_practice), *cells, whole, outliers.get(pk, 0)))
    return write_table(columns, lines)


def task_lines(campaign: Campaign) -> Iterator[str]:
    """Yield each task with its time, those that were withdrawn and those for practice too."""
    found = effort(campaign)
    names = {one.pk: one.name for one in found.conditions}
    columns = ("topic", "practice", "condition", "kind", "person", "state", "items", "seconds", "outlier")
    tasks = sorted(
        (*found.work, *found.practice),
        key=lambda task: (task.topic__qid.encode(), names[task.condition_id].encode(), task.person__username.encode()),
    )
    lines = (
        (
            task.topic__qid,
            _is(task.topic__is_practice),
            names[task.condition_id],
            task.kind,
            task.person__username,
            task.stands,
            task.done,
            task.seconds,
            _is(task.pk in found.over),
        )
        for task in tasks
    )
    return write_table(columns, lines)


def median_lines(campaign: Campaign) -> Iterator[str]:
    """Yield sums and medians of each kind, condition, person, and person under a condition; none of practice."""
    found = effort(campaign)
    sums = (f"seconds {state}" for state in STATES)
    medians = ("median of a task", "median of an item", "outlier above", "outliers")
    return write_table(("kind", "condition", "person", "finished", *sums, "seconds", *medians), _rows(found))


def _rows(found: Effort) -> Iterator[tuple[object, ...]]:
    for one in rows(found):
        yield one.kind, "" if one.is_kind else one.name, "", *_told(one.group, one.limit)
    for person in person_rows(found):
        yield person.kind, person.condition, person.person, *_told(person.group, None)


def _told(told: Group, limit: float | None) -> tuple[object, ...]:
    medians = (None if value is None else f"{value:.1f}" for value in (told.topic, told.item, limit))
    return told.finished, *told.seconds.values(), told.total, *medians, told.outliers


def _is(is_so: bool) -> str:
    return "yes" if is_so else "no"
