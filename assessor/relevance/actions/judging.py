"""What a person says of passages. Judging and undoing are called inside work.writes.once, their transaction."""

from typing import Any

from django.db import transaction
from django.db.models import BooleanField, Count, ExpressionWrapper, Q
from django.utils import timezone

from assessor.collection import history
from assessor.collection.actions import grades_made_under, judge_of
from assessor.collection.models import Condition, Grade, Person
from assessor.relevance.actions.grades import MADE_HERE, mark_changed
from assessor.relevance.leases import LEASE
from assessor.relevance.models import Item, Judgment
from assessor.relevance.queries import can_be_opened, items_of, judged, shown_grades, version_of
from assessor.work.blindness import record_exposure
from assessor.work.leases import sign_of_work
from assessor.work.models import MAX_REASON, Task
from assessor.work.writes import BadWrite, Closed, Result, Stale

MAX_SECONDS = 3_600


class Gone(Exception):
    """The passage went back to the queue and is somebody else's; the text says so."""


def judge(
    task: Task, *, item_id: int, grade: int | None, reason: str, seconds: int | None, acting_user: Person, seen: int
) -> Result:
    """Grade a passage, or say (grade None) why it can't be judged; of one's own, say something else.

    Returns the version that it made, and how many of the topic's passages are judged then, of how many. Raises Stale,
    Closed, Gone and BadWrite.
    """
    said = _said(task.condition, grade, reason)
    states = _locked(task, seen)
    item = _item(task, item_id, acting_user)
    if task.condition.method == Condition.Method.RELEVANCE_POST_EDITED and item.shown_to_id != acting_user.pk:
        raise BadWrite("The model's grade goes with this passage and has not been shown.")
    counted = None if seconds is None else min(seconds, MAX_SECONDS)
    item.judgment = _keep(item, task, acting_user, seconds=counted, **said)
    item.holder = item.held_until = None
    item.save()
    return {"version": seen + 1} | _tell(task, states, acting_user)


def undo(task: Task, *, item_id: int, acting_user: Person, seen: int) -> Result:
    """Take back what was said last, of this passage: it is to be graded again. Raises Stale and Closed.

    Stale too where another one was judged last: an undo that was meant for a refused judgment takes back no other.
    """
    states = _locked(task, seen)
    item = judged(task).select_for_update(of=("self",)).first()
    if item is None or item.pk != item_id:
        raise Stale
    _keep(item, task, acting_user, state=Judgment.State.TAKEN_BACK)
    item.judgment = None
    if task.condition.relevance_sheet.drawn:
        item.holder, item.held_until = acting_user, timezone.now() + LEASE
    item.save()
    _tell(task, states, acting_user)
    return {"version": seen + 1}


@transaction.atomic
def show(task: Task, *, item_id: int, acting_user: Person) -> int:
    """Return the model's grade of a passage that is now on screen, and record that this person has seen it.

    Raises Gone and BadWrite.
    """
    condition = task.condition
    if condition.method != Condition.Method.RELEVANCE_POST_EDITED:
        raise BadWrite("No model's grade is shown here.")
    item = _item(task, item_id, acting_user)
    graded = shown_grades(condition).filter(topic=task.topic, docid=item.docid).values_list("grade", flat=True).first()
    if graded is None:
        raise BadWrite("The model has not graded this passage.")
    if item.shown_to_id != acting_user.pk:
        item.shown, item.shown_to = graded, acting_user
        item.save(update_fields=["shown", "shown_to"])
        where = f"{condition}: {item.docid}"[:200]
        record_exposure(acting_user, [task.topic], Condition.Kind.RELEVANCE, where)
    return int(graded)


def _said(condition: Condition, grade: int | None, reason: str) -> dict[str, Any]:
    """Return the fields of a judgment. Raises BadWrite for a grade that there isn't, or no reason."""
    if grade is not None:
        if not 0 <= grade <= condition.max_grade:
            raise BadWrite(f"A grade is one of {', '.join(map(str, range(condition.max_grade + 1)))}.")
        return {"state": Judgment.State.GRADED, "grade": grade}
    folded = " ".join(reason.split())
    if not folded or len(folded) > MAX_REASON or "\x00" in folded:
        raise BadWrite(f"Say in at most {MAX_REASON} characters why it can't be judged.")
    return {"state": Judgment.State.CANNOT, "reason": folded}


def _locked(task: Task, seen: int) -> set[str]:
    """Lock a task with all others of its topic, of which the last passage ends all; return the states that they are in.

    Raises Closed for a withdrawn one and Stale for an old version.
    """
    same = Task.objects.filter(topic=task.topic, condition=task.condition).order_by("pk")
    state_of = dict(same.select_for_update(no_key=True, of=("self",)).values_list("pk", "state"))
    if state_of[task.pk] == Task.State.WITHDRAWN:
        raise Closed
    if version_of(task) != seen:
        raise Stale
    return set(state_of.values())


def _item(task: Task, item_id: int, person: Person) -> Item:
    """Return a passage that is this person's to judge now, locked: they judged it, or can open it and drew it.

    Raises BadWrite and Gone.
    """
    items = items_of(task).select_related("judgment").select_for_update(of=("self",))
    can_be_opened_now = ExpressionWrapper(can_be_opened(task.condition), output_field=BooleanField())
    item = items.annotate(can_be_opened=can_be_opened_now).filter(pk=item_id).first()
    if item is None:
        raise BadWrite("There is no such passage on this topic.")
    if item.judgment:
        if item.judgment.task_id != task.pk:
            raise Gone("Somebody else has graded this passage meanwhile, since it went back to the queue.")
        return item
    if item.holder_id not in (None, person.pk) and item.held_until and item.held_until > timezone.now():
        raise Gone("This passage went back to the queue, and somebody else has it on their screen now.")
    if task.condition.relevance_sheet.drawn and item.holder_id != person.pk:
        raise Gone("This passage is in the queue: it is not yours to judge before you draw it.")
    if not item.can_be_opened:
        raise BadWrite("This passage can't be opened yet, so it can't be judged.")
    return item


def _keep(item: Item, task: Task, person: Person, **said: Any) -> Judgment:
    """Add a judgment to those of a passage, and make the grade of the condition's source say the same."""
    item.version += 1
    shown = item.shown if item.shown_to_id == person.pk else None
    where: dict[str, Any] = {"topic": task.topic, "docid": item.docid}
    judgment: Judgment = Judgment.objects.create(
        condition=task.condition,
        **where,
        version=item.version,
        judge=judge_of(person),
        task=task,
        shown=shown,
        guidelines_version=task.guidelines_version,
        **said,
    )
    # There once somebody has graded; read with the task.
    source = getattr(task.condition, "grades_made", None) or grades_made_under(task.condition)
    if judgment.grade is None:
        Grade.everything.filter(source=source, **where).delete()
    else:
        grade = Grade(source=source, **where, grade=judgment.grade, iteration=MADE_HERE)
        which, now = ["source", "topic", "docid"], ["grade", "iteration"]
        Grade.everything.bulk_create([grade], update_conflicts=True, unique_fields=which, update_fields=now)
    mark_changed(source)
    return judgment


def _tell(task: Task, states: set[str], person: Person) -> dict[str, int]:
    """Bring the task's counters up to date, and end or open all tasks of the topic with its last passage.

    Returns how many of the topic's passages are judged, by whoever, and how many there are.
    """
    by_this = Count("pk", filter=Q(judgment__task=task))
    counts = items_of(task).aggregate(graded=Count("judgment"), total=Count("pk"), by_this=by_this)
    to_do, done = counts["total"] - counts["graded"], counts["by_this"]
    own_total = 0 if task.condition.relevance_sheet.drawn else done + to_do
    Task.objects.filter(pk=task.pk).update(done=done, total=own_total, worked_at=timezone.now(), **sign_of_work())
    before, after = (Task.State.OPEN, Task.State.FINISHED) if not to_do else (Task.State.FINISHED, Task.State.OPEN)
    if before in states:
        same = Task.objects.filter(topic=task.topic, condition=task.condition, state=before)
        same.update(state=after, leased_until=None)  # once finished it is nobody else's any more
        verb = "relevance finished" if not to_do else "relevance opened again"
        history.record(verb, task, campaign=task.campaign, person=person, condition=task.condition.name)
    return {"graded": counts["graded"], "total": counts["total"]}
