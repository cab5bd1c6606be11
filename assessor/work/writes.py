"""The rules of every write of an assessor: sent twice it counts once, sent on an old version it is refused."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.http import HttpRequest

from assessor.work.models import Task, Write

Result = dict[str, Any]


class Stale(Exception):
    """The write was made on an older version than the present one."""


class Closed(Exception):
    """What was to be written is finished and read-only."""


class BadWrite(Exception):
    """The request lacks what every write must carry, or carries something impossible."""


class Sent(NamedTuple):
    """What every write carries: its key and the version that the person saw."""

    key: UUID
    seen: int
    request: str  # sha256 of what is asked


def sent(request: HttpRequest) -> Sent:
    """Read the key and version of a POST. Raises BadWrite."""
    try:
        key, seen = UUID(request.POST["key"]), int(request.POST["version"])
    except (KeyError, ValueError) as error:
        raise BadWrite("A write needs a key (UUID) and the version that it was made on.") from error
    fields = sorted((name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken")
    asked = repr((request.path, fields))
    return Sent(key, seen, hashlib.sha256(asked.encode()).hexdigest())


def number(request: HttpRequest, field: str) -> int:
    """Read a whole number, from 0, of a POST. Raises BadWrite."""
    text = request.POST.get(field, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadWrite(f"{field} must be a whole number, from 0.")
    return int(text)


def once(task: Task, write: Sent, carry_out: Callable[[], Result]) -> Result:
    """Carry out a write of a task's person whose key is new; for a known key return what came of it the first time.

    The key is stored in the transaction of the write itself, first of all: of two equal requests at once the
    second waits for the first, and then finds its key.
    """
    try:
        with transaction.atomic():
            record = Write.objects.create(
                key=write.key, campaign_id=task.campaign_id, person_id=task.person_id, request=write.request
            )
            if result := carry_out():  # nothing is what the record has already
                record.result = result
                record.save(update_fields=["result"])
            return dict(record.result)
    except IntegrityError:
        earlier = Write.objects.filter(key=write.key).first()
        if earlier is None:
            raise
    if earlier.person_id != task.person_id or earlier.request != write.request:
        raise BadWrite("This key was used for another write.")
    return dict(earlier.result)
