"""Organizers remind assessors of a task: on their home, and by mail where a server is set."""

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import related_records
from assessor.work.models import Reminder, Task
from assessor.work.queries import tasks_of

_log = logging.getLogger(__name__)


class Reminded(Exception):
    """There is nothing to remind of, or it was done; the text says why."""


def remind(*, task: Task, site: str, acting_user: Person) -> bool:
    """Remind a task's person of it; return whether it was mailed. site: "https://host". Raises Reminded."""
    with transaction.atomic():
        locked = Task.objects.select_for_update().get(pk=task.pk)
        if locked.state != Task.State.OPEN or locked.paused:
            raise Reminded(
                f"{task.person} can't work on {task.topic.qid} now: the task is finished, paused or taken away."
            )
        if task.reminders.filter(seen_at=None).exists():
            raise Reminded(f"{task.person} was reminded of {task.topic.qid} and has not seen that yet.")
        Reminder.objects.create(task=task, person=acting_user)
        history.record("assessor reminded", task, campaign=task.campaign, person=acting_user)
    return bool(settings.MAILS and task.person.email and _mail(task, site))


def _mail(task: Task, site: str) -> bool:
    text = render_to_string("work/reminder_mail.txt", {"task": task, "site": site})
    try:
        send_mail(f"Reminder: a topic of {task.campaign}", text, None, [task.person.email])
    except (OSError, SMTPException):
        _log.exception("A reminder was not mailed.")
        return False
    return True


def reminders_of(person: Person) -> QuerySet[Reminder]:
    """Return the reminders that a person has not seen, of tasks that they can work on."""
    tasks = tasks_of(person).filter(state=Task.State.OPEN, paused=False).order_by()
    reminders = Reminder.objects.filter(seen_at=None, task__in=tasks.values("pk"))
    of_task = [f"task__{name}" for name in ("topic", "campaign", "condition", *related_records())]
    return reminders.select_related(*of_task)


def note_seen(person: Person, reminder_id: int) -> bool:
    """Note that a person has seen a reminder; return whether it is one of theirs."""
    own = Reminder.objects.filter(pk=reminder_id, task__person=person)
    own.filter(seen_at=None).update(seen_at=timezone.now())
    return own.exists()
