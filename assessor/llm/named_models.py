"""What endpoints called the model that answered: where that changes within a condition, two models judged it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max, Min, OuterRef, QuerySet, Subquery

from assessor.campaigns.models import Condition
from assessor.llm.models import Call, Job


class NamedModel(NamedTuple):
    """A model by the name that the endpoint gave it, with its calls under a condition."""

    name: str
    calls: int
    first: datetime
    last: datetime


def _calls() -> QuerySet[Call]:
    # Without a reply there is no name.
    return Call.objects.filter(model__gt="")


def is_mixed(condition: Condition) -> bool:
    """Say whether calls under a condition were answered by models of different names, however many calls there are."""
    return bool(condition_marks([condition]))


def named_models(condition: Condition) -> list[NamedModel]:
    """Return the models that answered under a condition, the first one first; none where all calls had one name.

    An answer that an earlier condition paid for is told there.
    """
    if not is_mixed(condition):
        return []
    of_condition = _calls().filter(job__condition=condition).order_by().values("model")
    counts = of_condition.annotate(calls=Count("pk"), first=Min("at"), last=Max("at"))
    found = [NamedModel(one["model"], one["calls"], one["first"], one["last"]) for one in counts]
    return sorted(found, key=lambda one: (one.first, one.name))


def last_model(condition: Condition) -> str:
    """Return the name of the model that answered last under a condition, or ""."""
    # Job by job, by an index: in one go PostgreSQL looks through the whole ledger for a condition without calls.
    of_job = _calls().filter(job=OuterRef("pk")).order_by("-at", "-pk")
    last = [Subquery(of_job.values(name)[:1]) for name in ("at", "model")]
    jobs = Job.objects.filter(condition=condition).values_list(*last)
    return max(((at, model) for at, model in jobs if model), default=(None, ""))[1]


def condition_marks(conditions: Sequence[Condition]) -> dict[int, str]:
    """Return what tables say beside the names of conditions that several models judged, by key."""
    judged = [one.pk for one in conditions if one.judge_id is not None]  # under people's there is no job
    if not judged:
        return {}
    of_job = _calls().filter(job=OuterRef("pk")).order_by("model")
    ends = [Subquery(of_job.values("model")[:1]), Subquery(of_job.reverse().values("model")[:1])]
    names: dict[int, set[str]] = {pk: set() for pk in judged}
    for pk, *of_ends in Job.objects.filter(condition__in=judged).values_list("condition", *ends):
        names[pk].update(filter(None, of_ends))
    return {pk: "several models" for pk, found in names.items() if len(found) > 1}
