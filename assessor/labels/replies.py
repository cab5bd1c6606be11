"""Organizers' replies to what assessors ask them: flags, and reasons why something can't be judged."""

from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet

from assessor.collection import history
from assessor.collection.condition_kinds import kind_named, kind_of
from assessor.collection.models import Person
from assessor.labels.questions import ResolveError
from assessor.work.models import Reply, ReplyRead, Task

MAX_REPLY = 2_000  # characters


@transaction.atomic
def reply(*, task: Task, sheet: int | None, item: str, question: str, text: str, acting_user: Person) -> Reply:
    """Answer what a task's person asked about an item. Raises ResolveError.

    question: what they ask, as it stands. An earlier reply stays, and is read beside this one.
    """
    text = text.strip()
    if not text or len(text) > MAX_REPLY or "\x00" in text:
        raise ResolveError(f"Write an answer, of at most {MAX_REPLY} characters.")
    name = item if sheet is None else kind_of(task).sheets.everything.get(pk=sheet).item_name(item)
    made = Reply(task=task, sheet=sheet, item=name, question=question, text=text, person=acting_user)
    made.save()
    told = {"condition": task.condition.name, "sheet": sheet, "item": item}
    history.record("question answered", task, campaign=task.campaign, person=acting_user, **told)
    return made


def replies_to(person: Person) -> QuerySet[Reply]:
    """Return the replies to a person, the newest first; none about work that is not theirs any more."""
    replies = Reply.objects.filter(task__person=person).exclude(task__state=Task.State.WITHDRAWN)
    replies = replies.select_related("task__topic", "task__condition", "task__campaign", "read")
    return replies.order_by("-pk")


def unread(person: Person) -> int:
    """Count the replies to a person that they have not opened."""
    return replies_to(person).filter(read=None).count()


def replies_on(task: Task) -> dict[str, dict[str, list[str]]]:
    """Return what was replied to a task's person, by sheet's key and item's, in order: the texts alone."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in placed(task.replies.select_related("task").order_by("pk")):
        found.setdefault(str(one.sheet), {}).setdefault(one.item, []).append(one.text)
    return found


def replies_by_item(task: Task) -> dict[str, list[str]]:
    """Return the same where no sheet stands between a task and its items: by item's key alone."""
    return replies_on(task).get(str(None), {})


def placed(replies: QuerySet[Reply]) -> list[Reply]:
    """Return replies, their tasks selected, each on the item that it was given on: under the key that this has now."""
    found = list(replies)
    by_kind: dict[str, list[Reply]] = defaultdict(list)
    for one in found:
        by_kind[one.task.kind].append(one)
    for kind, some in by_kind.items():
        if model := kind_named(kind).sheets:
            sheets = model.with_items(model.everything).in_bulk({one.sheet for one in some})
            for one in some:
                one.item = sheets[one.sheet].item_named(one.item)
    return found


def note_read(replies: Iterable[Reply]) -> None:
    """Note that the person of these replies has opened them; what is noted already stays as it is."""
    new = [ReplyRead(reply=one) for one in replies if not hasattr(one, "read")]
    ReplyRead.objects.bulk_create(new, ignore_conflicts=True)
