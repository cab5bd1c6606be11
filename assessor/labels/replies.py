"""Organizers' replies to what assessors ask them: flags, and reasons why something can't be judged."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet, prefetch_related_objects

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Answer
from assessor.labels.flags import Place, ResolveError
from assessor.labels.label_kind import label_kind
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
    answer, name = (None, item) if sheet is None else label_kind(task.kind).name_in_reply(sheet, item)
    made = Reply(task=task, answer=answer, item=name, question=question, text=text, person=acting_user)
    made.save()
    told = {"condition": task.condition.name, "answer": answer.name if answer else None, "item": name}
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
    for one, (sheet, item) in placed(task.replies.select_related("task").order_by("pk")):
        found.setdefault(str(sheet), {}).setdefault(item, []).append(one.text)
    return found


def replies_by_item(task: Task) -> dict[str, list[str]]:
    """Return the same where no sheet stands between a task and its items: by item's key alone."""
    return replies_on(task).get(str(None), {})


def placed(replies: QuerySet[Reply]) -> list[tuple[Reply, Place]]:
    """Return replies, their tasks selected, each with what it was given on: under the keys that this has now."""
    found = list(replies)
    places: dict[int, Place] = {one.pk: (None, one.item) for one in found}
    by_kind: dict[str, list[Reply]] = defaultdict(list)
    for one in found:
        by_kind[one.task.kind].append(one)
    for kind, some in by_kind.items():
        places |= label_kind(kind).places_of(some)
    return [(one, places[one.pk]) for one in found]


def name_on_answer(model: Any, sheet: int, item: str) -> tuple[Answer, str]:
    """Return what names an item of a judged answer for ever."""
    about = model.everything.get(pk=sheet)
    return about.answer, about.item_name(item)


def places_on_answers(model: Any, replies: Sequence[Reply]) -> dict[int, Place]:
    """Return which items of judged answers replies were given on, by reply's key."""
    on_answers = [one for one in replies if one.answer_id]
    if not on_answers:
        return {}
    conditions, answers = {one.task.condition_id for one in on_answers}, {one.answer_id for one in on_answers}
    there = model.everything.filter(condition__in=conditions, answer__in=answers).order_by("pk")
    sheets = list(model.with_items(there))
    prefetch_related_objects(sheets, *model.NAMED_BY)
    on_answer: dict[tuple[int, int | None], list[Any]] = defaultdict(list)
    for sheet in sheets:
        on_answer[sheet.condition_id, sheet.answer_id].append(sheet)
    places: dict[int, Place] = {}
    for one in on_answers:
        # Of several banks of a topic, a nugget is in one.
        for sheet in on_answer[one.task.condition_id, one.answer_id]:
            if item := sheet.item_named(one.item):
                places[one.pk] = (sheet.pk, item)
    return places


def note_read(replies: Iterable[Reply]) -> None:
    """Note that the person of these replies has opened them; what is noted already stays as it is."""
    new = [ReplyRead(reply=one) for one in replies if not hasattr(one, "read")]
    ReplyRead.objects.bulk_create(new, ignore_conflicts=True)
