"""The only way to a task for a person."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import BigIntegerField, BooleanField, IntegerField, QuerySet
from django.db.models.expressions import RawSQL
from django.http import Http404
from django.utils.translation import gettext_noop

from assessor.accounts.models import Person
from assessor.campaigns.access import has_now
from assessor.campaigns.models import Campaign, Role
from assessor.runtime.sql import Parameter, Prepared, fetch_prepared
from assessor.work.models import Task

_MEMBER = (
    "SELECT 1 FROM campaigns_membership member WHERE member.campaign_id = work_task.campaign_id"
    " AND member.person_id = work_task.person_id AND member.role ="
)

# What why_not_blind() must know of a task and its person: columns of a query in which the task is work_task.
FACTS = {
    "keeps_blind": "(SELECT blind_after_seeing FROM campaigns_protocol newest"
    " WHERE newest.campaign_id = work_task.campaign_id ORDER BY newest.version DESC LIMIT 1)",
    "has_organized": f"EXISTS ({_MEMBER} 'organizer')",  # once too: what they saw, they have seen
    # As has_administered() has it, for who is an administrator no longer.
    "has_administered": "(SELECT own.created_at FROM campaigns_campaign own WHERE own.id = work_task.campaign_id)"
    " < (SELECT former.administrator_until FROM accounts_person former WHERE former.id = work_task.person_id)",
    "has_seen": "EXISTS (SELECT 1 FROM work_exposure seen WHERE seen.person_id = work_task.person_id"
    " AND seen.topic_id = work_task.topic_id AND seen.kind = work_task.kind)",
    "has_feedback": "EXISTS (SELECT 1 FROM work_exposure told WHERE told.person_id = work_task.person_id"
    " AND told.topic_id = work_task.topic_id AND told.kind = work_task.kind"
    " AND told.\"where\" = 'feedback on practice')",  # FEEDBACK
    # As decides() has it of what is given.
    "has_decided": "(SELECT method FROM campaigns_condition here WHERE here.id = work_task.condition_id)"
    " <> 'adjudicated' AND EXISTS (SELECT 1 FROM work_task decided"
    " JOIN campaigns_condition there ON there.id = decided.condition_id"
    " WHERE there.method = 'adjudicated' AND decided.person_id = work_task.person_id"
    " AND decided.topic_id = work_task.topic_id AND decided.kind = work_task.kind)",
}


# What checked() must know: columns of the query that loads a task, in which it is work_task, so that this query is the
# only one. Written out, because to put such a query together takes Django three times as long as to ask it.
CHECKS = {
    "is_assessor": f"EXISTS ({_MEMBER} 'assessor' AND member.until IS NULL)",
    **FACTS,
    "guidelines_version": "(SELECT MAX(guidelines.version) FROM work_guidelinesopened opened"
    " JOIN work_guidelines guidelines ON guidelines.id = opened.guidelines_id"
    " WHERE opened.person_id = work_task.person_id AND guidelines.campaign_id = work_task.campaign_id"
    " AND guidelines.kind = work_task.kind)",
}
_NUMBERS = ("guidelines_version",)  # of CHECKS; the others are yes or no


class Row:
    """What a query told, taken from left to right."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = iter(values)

    def take(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the next values, by these names."""
        return {name: next(self._values) for name in names}

    def some(self, count: int) -> list[Any]:
        """Return the next so many values."""
        return [next(self._values) for _ in range(count)]


def record(model: Any, fields: dict[str, Any]) -> Any:
    """Return a record of which these fields were read, by the names of their columns."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in fields]
    return model.from_db(connection.alias, names, [fields[name] for name in names])


class GuidelinesUnopened(PermissionDenied):
    """A person has not opened the guidelines for a task of theirs, and is to do so before anything else."""

    def __init__(self, task: Task) -> None:
        super().__init__("Open the guidelines for this work first: they stand before your first topic.")
        self.task = task


class NotAmongOwn(Exception):
    """A sheet is not among those of the person's task, whether there is one or not; the text says so."""


def own_task(person: Person, task_id: int, *related: str) -> Task:
    """Return a task of this assessor. Raises Http404 for anybody else's, for a withdrawn one, and for none.

    related: what is read with it besides its campaign, topic, condition and protocol.
    """
    task = next(_own_tasks(related).fetch(task=task_id, person=person.pk), None)
    return checked(person, task, task)


@cache
def _own_tasks(related: tuple[str, ...]) -> Prepared[Task]:
    tasks = Task.objects.select_related("campaign", "topic", "condition__campaign", "condition__protocol", *related)
    return Prepared(with_checks(tasks.filter(pk=Parameter("task"), person=Parameter("person")), CHECKS))


def with_checks(tasks: QuerySet[Task], names: Iterable[str]) -> QuerySet[Any]:
    """Return tasks, each read with what CHECKS have by these names."""
    told: dict[str, Any] = {}
    for name in names:
        field = IntegerField() if name in _NUMBERS else BooleanField()
        told[name] = RawSQL(CHECKS[name], (), output_field=field)  # noqa: S611  # ours
    return tasks.annotate(**told)


def checked(person: Person, task: Task | None, record: Any) -> Task:
    """Return a task if it is this assessor's, with all that only this module tells of it. Raises Http404 as own_task().

    record: what was read with CHECKS, the task itself or one that belongs to it.
    """
    is_own = task is not None and task.person_id == person.pk and task.state != Task.State.WITHDRAWN
    if task is None or not is_own or not person.is_active or not record.is_assessor:
        raise Http404("There is no such task for you.")
    task.person = person
    task.not_blind = why_not_blind(task, record)
    task.guidelines_version = record.guidelines_version
    return task


def organized_task(person: Person, task_id: int, kinds: Collection[str], what: str, *related: str) -> Task:
    """Return somebody else's task of one of some kinds in a campaign that the person organizes. Raises Http404.

    what: what is labelled, for the text; related: what is read with it besides its campaign, topic and person.
    """
    tasks = Task.objects.filter(has_now(person, Role.ORGANIZER, "campaign"), pk=task_id, kind__in=kinds)
    found: Task | None = tasks.select_related("campaign", "topic", "person", *related).exclude(person=person).first()
    if found is None:
        raise Http404(f"There are no such {what} in a campaign of yours.")
    return found


def require_open_blind(task: Task) -> None:
    """Raise PermissionDenied where a task is still to be done and its person can't do it blind any more.

    It is GuidelinesUnopened where they have not opened the guidelines for it.
    """
    if task.state == Task.State.OPEN:
        require_blind(task)
        if task.guidelines_version is None:
            raise GuidelinesUnopened(task)


def require_running(task: Task) -> None:
    """Raise PermissionDenied where a task is paused. What was on its way to be saved is taken all the same."""
    if task.paused and task.state == Task.State.OPEN:
        raise PermissionDenied(
            gettext_noop(
                "Your organizer has paused this topic. What you have done there is kept; it goes on from there once "
                "it is given free again."
            )
        )


def sheet_rows(sql: str, person: Person, task_id: int, sheet_ids: Sequence[int]) -> list[Row]:
    """Return what a query tells of sheets of a person's own task: sql takes the person's key and the task's."""
    if not sheet_ids or max(task_id, *sheet_ids) > BigIntegerField.MAX_BIGINT:  # no database can even be asked for it
        return []
    marks = ", ".join(["%s"] * len(sheet_ids))
    found = fetch_prepared(f"{sql} AND sheet.id IN ({marks})", [person.pk, task_id, *sheet_ids])  # marks alone
    return [Row(values) for values in found]


def require_blind(task: Task) -> None:
    """Raise PermissionDenied where the task's person has seen, since they got it, what they must not have seen."""
    if task.not_blind:
        raise PermissionDenied(task.not_blind)


def why_not_blind(task: Task, record: Any) -> str | None:
    """Say why a task's person can't do it blind, or None; record: what was read with FACTS."""
    if record.keeps_blind and (task.person.is_superuser or record.has_organized or record.has_administered):
        return why_barred(task.person, task.campaign)
    if record.has_feedback:
        return gettext_noop(
            "You have read the feedback on this practice topic, so you know what is said there: it is done. Go on with "
            "another one."
        )
    if record.has_decided:
        return gettext_noop(
            "You decide or decided between other people's labels on this topic, so you can't label it without knowing "
            "what they said. Tell your organizer, who can give the topic to somebody else."
        )
    if record.keeps_blind and record.has_seen and task.condition.is_blind():
        return gettext_noop(
            "You have seen what a language model gave on this topic for this kind of work, so you can't do it blind. "
            "Tell your organizer, who can give the topic to somebody else."
        )
    return None


def has_administered(person: Person, campaign: Campaign) -> bool:
    """Say whether a person is an administrator, or was one while a campaign existed: they could see all of it."""
    until = person.administrator_until
    return person.is_superuser or (until is not None and campaign.created_at < until)


def why_barred(person: Person, campaign: Campaign) -> str:
    """Say why an administrator, or else an organizer, may not assess in a campaign."""
    if person.is_superuser:
        return f"{person} is an administrator, who can see every record; an administrator isn't an assessor."
    if has_administered(person, campaign):
        return f"{person} was an administrator while {campaign} existed, and could see every record of it."
    return f"{person} organizes {campaign}, or did; an organizer isn't an assessor in the same campaign."


def require_no_repetition(is_repeated: bool) -> None:
    """Raise PermissionDenied where a query with labels.manual_setups.repeats() says that it is so."""
    if is_repeated:
        raise PermissionDenied(
            gettext_noop(
                "You are labelling these answers again, without a look at what you said before: "
                "it can be opened once you have signed the repetition off."
            )
        )
