"""The rows that files of no kind of condition are made of, to be counted, and whose output they show."""

from django.db.models import QuerySet

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Answer, Grade, QrelsSource
from assessor.exportables import Chosen, judged_answers, of_chosen, topics_of
from assessor.work.exposure import Seen


def grades(chosen: Chosen) -> QuerySet[Grade]:
    return of_chosen(chosen, Grade.with_unjudged.filter(source=chosen.record))


def scored(chosen: Chosen) -> int:
    """Count the runs of a table, or the answers where each has a line."""
    if chosen.form in ("csv", "latex"):
        return int(chosen.campaign.runs.count())
    return Answer.objects.filter(run__campaign=chosen.campaign).count()


def scores_seen(chosen: Chosen) -> Seen:
    """Yield the condition whose labels scores come from, with their topics."""
    yield chosen.record, topics_of(judged_answers(chosen, kind_of(chosen.record).scored), "answer__topic")


def planned(chosen: Chosen) -> int:
    """Count the cells of a cut-off report."""
    kind = kind_of(chosen.record)
    answers = judged_answers(chosen, kind.sheets).count() if kind.judges_answers else 0
    return max(answers, chosen.campaign.topics.count())


def all_grades(chosen: Chosen) -> QuerySet[Grade]:
    return of_chosen(chosen, Grade.objects.filter(source__campaign=chosen.campaign))


def all_grades_seen(chosen: Chosen) -> Seen:
    """Yield the first source of a model's grades with the topics of all: what is seen of one kind is recorded once."""
    models = all_grades(chosen).filter(source__by=QrelsSource.By.MODEL)
    first = chosen.campaign.qrels_sources.filter(by=QrelsSource.By.MODEL).order_by("pk").first()
    if first:
        yield first, topics_of(models, "topic")


def grades_seen(chosen: Chosen) -> Seen:
    if chosen.record.by == QrelsSource.By.MODEL:
        yield chosen.record, topics_of(grades(chosen), "topic")
