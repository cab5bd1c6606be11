"""What was planned and read at a moment."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min, Q

from assessor.campaigns.models import Topic
from assessor.exportables import Chosen, of_chosen
from assessor.labels.cutoff import Cell
from assessor.work.models import Task
from nuggets.reports.models import EditedReport, Reading
from nuggets.reports.queries import to_read


def cells_of_reports(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A report that people edit is in if it was signed by then."""
    of_people = EditedReport.objects.filter(condition=chosen.record).exclude(task__state=Task.State.WITHDRAWN)
    reports = of_chosen(chosen, of_people)
    signed = dict(reports.filter(edits__verb="sign").order_by().values_list("pk").annotate(Min("edits__at")))
    for pk, qid in reports.values_list("pk", "topic__qid"):
        is_in = pk in signed and signed[pk] <= at
        yield Cell(qid, "", 1, int(is_in), int(pk in signed and not is_in))


def cells_of_documents(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A pair of question and document is in if it was read by then."""
    readings = of_chosen(chosen, Reading.objects.filter(condition=chosen.record))
    counts = readings.order_by().values_list("topic").annotate(now=Count("pk"), then=Count("pk", filter=Q(at__lte=at)))
    read = {topic: (now, then) for topic, now, then in counts}
    topics = Topic.objects.filter(pk__in=list(read)).order_by("qid")
    planned = Counter({pk: one.pairs for pk, one in to_read(chosen.record, list(topics)).items()})
    for topic in topics:
        now, then = read[topic.pk]
        yield Cell(topic.qid, "", max(planned[topic.pk], now), then, now - then)
