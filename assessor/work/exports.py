"""Tasks as a table."""

from collections.abc import Iterator

from django.db.models import QuerySet

from assessor.formats.tables import write_table
from assessor.work.models import Task

_AT_A_TIME = 500


def task_lines(tasks: QuerySet[Task]) -> Iterator[str]:
    """Yield who has which topic under which condition, how far they are, and their active time."""
    columns = ("campaign", "person", "topic", "condition", "kind", "state", "done", "total", "seconds", "worked_at")
    rows = tasks.order_by("campaign__slug", "person__username", "topic__qid", "pk")
    names = ("campaign__slug", "person__username", "topic__qid", "condition__name", *columns[4:])
    return write_table(columns, rows.values_list(*names).iterator(_AT_A_TIME))
