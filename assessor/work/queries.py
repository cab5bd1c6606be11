"""What pages read of tasks."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns.access import has_now, members
from assessor.campaigns.condition_kind import kind_of, names_of_repeatable, related_records
from assessor.campaigns.models import Campaign, Condition, Membership, Role
from assessor.work.blindness import not_barred
from assessor.work.leases import free
from assessor.work.models import Task, Waiting


def tasks_of(person: Person) -> QuerySet[Task]:
    """Return a person's tasks in campaigns where they assess now that were not withdrawn, with what the home shows."""
    own = Task.objects.filter(has_now(person, Role.ASSESSOR, "campaign"), person=person)
    tasks = own.exclude(state=Task.State.WITHDRAWN)
    return tasks.select_related("campaign", "topic", "condition", *related_records()).order_by(
        "campaign__name", "topic__qid", "pk"
    )


class Place(NamedTuple):
    """Which of a person's topics under a condition a task is about, from 1 on in the home's order, and of how many."""

    number: int
    total: int


def place(task: Task) -> Place:
    own = Task.objects.filter(person=task.person_id, condition=task.condition_id).exclude(state=Task.State.WITHDRAWN)
    qid = task.topic.qid
    before = Q(topic__qid__lt=qid) | Q(topic__qid=qid, pk__lte=task.pk)
    return Place(**own.aggregate(number=Count("pk", filter=before), total=Count("pk")))


def planned(campaign: Campaign) -> QuerySet[Task]:
    """Return a campaign's tasks that were not withdrawn."""
    tasks = campaign.tasks.exclude(state=Task.State.WITHDRAWN)
    return tasks.select_related("topic", "condition", "person", *related_records()).order_by("topic__qid", "pk")


class Counted(NamedTuple):
    """A task's counters, and whose it is; its fields are columns of a query."""

    pk: int
    topic_id: int
    topic__qid: str
    topic__is_practice: bool
    condition_id: int
    kind: str
    person_id: int
    person__username: str
    state: str
    done: int
    total: int
    seconds: int
    worked_at: datetime | None
    created_at: datetime
    leased_until: datetime | None
    paused: bool
    handed_over: bool

    @property
    def rests(self) -> bool:
        """Whether its person can't go on with it for now. What was signed off while it was paused rests no more."""
        return self.paused and self.state == Task.State.OPEN


def counted(campaign: Campaign) -> Iterator[Counted]:
    """Yield the counters of a campaign's tasks that were not withdrawn: of a track in a few hundredths of a second."""
    tasks = planned(campaign).annotate(handed_over=handed_over()).order_by("topic__qid", "pk")
    return map(Counted._make, tasks.values_list(*Counted._fields))


def known_total(tasks: Iterable[Counted]) -> int:
    """Return how many items tasks have; 0 where that is known of all only once each is finished, as of nuggets."""
    total = 0
    for task in tasks:
        if task.state == Task.State.OPEN and (kind_of(task).makes_nuggets or task.done > task.total):
            return 0
        total += task.total
    return total


def handed_over() -> Q:
    """Return what is true of a task whose items somebody else began, so that its time is not that of its items.

    What was said of an answer stays and counts when its topic becomes another person's. In other kinds of work whoever
    takes over starts anew.
    """
    before = Task.objects.filter(condition=OuterRef("condition"), topic=OuterRef("topic"), state=Task.State.WITHDRAWN)
    return Q(Exists(before.filter(seconds__gt=0)), kind__in=names_of_repeatable())


def waiting_counts(campaign: Campaign) -> dict[int, int]:
    """Return how many topics wait to be drawn under each condition, by its key; none for practice."""
    waiting = waiting_in(campaign).filter(topic__is_practice=False).order_by()
    return dict(waiting.values_list("condition").annotate(Count("pk")))


def assessors(campaign: Campaign) -> QuerySet[Person]:
    """Return the people who can be given tasks in a campaign."""
    people = members(campaign, Role.ASSESSOR).filter(is_active=True)
    if campaign.protocol.blind_after_seeing:
        people = people.filter(is_superuser=False).exclude(
            Q(administrator_until__gt=campaign.created_at)
            | Q(memberships__in=Membership.objects.filter(campaign=campaign, role=Role.ORGANIZER))
        )
    return people.order_by("username")


def waiting_in(campaign: Campaign) -> QuerySet[Any]:
    """Return a campaign's topics that can be drawn and that nobody has now, nor had and left."""
    return free().filter(condition__campaign=campaign, has_lapsed=False).select_related("condition")


def queues_of(person: Person) -> QuerySet[Any]:
    """Return the conditions under which a person can draw topics, each with how many are `free` in all."""
    of_condition = free().filter(condition=OuterRef("pk")).order_by().values("condition")
    number = Coalesce(Subquery(of_condition.annotate(number=Count("pk")).values("number")), 0)
    waiting = Exists(Waiting.objects.filter(condition=OuterRef("pk")))
    queues = not_barred(person, Condition.objects.filter(waiting, has_now(person, Role.ASSESSOR, "campaign")))
    return queues.annotate(free=number).select_related("campaign").order_by("campaign__name", "name")


def lease(task: Task | Counted) -> str:
    """Return how it stands with the lease of a drawn task, in words; "" for one that has none."""
    if task.leased_until is None or task.state != Task.State.OPEN:
        return ""
    is_over = task.leased_until <= timezone.now()
    until = date_format(timezone.localtime(task.leased_until), "SHORT_DATETIME_FORMAT")
    return f"drawn, lease {'ran out on' if is_over else 'until'} {until}"


def minutes(seconds: int) -> str:
    """Return a time as people say it: "—", "under a minute", "12 min", "2 h 05 min"."""
    if not seconds:
        return "—"
    if seconds < 60:
        return gettext("under a minute")
    hours, rest = divmod(seconds // 60, 60)
    return f"{hours} h {rest:02d} min" if hours else f"{rest} min"
