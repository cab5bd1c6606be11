"""What a person says of passages. Judging and undoing are called inside work.writes.once, their transaction."""

from typing import Any

from django.db.models import BooleanField, Count, DateTimeField, ExpressionWrapper, Q
from django.utils import timezone
from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import grades_made_under, judge_of
from assessor.campaigns.models import Condition, Grade, QrelsSource
from assessor.campaigns.signals import ended
from assessor.relevance.actions.grades import MADE_HERE, mark_changed
from assessor.relevance.label_kind import POST_EDITED, RELEVANCE
from assessor.relevance.leases import LEASE
from assessor.relevance.models import RelevanceJudgment
from assessor.relevance.queries import TO_DO, is_ready, items_of, shown_grades, shown_source
from assessor.runtime.clock import shared_now
from assessor.runtime.sql import Parameter, Prepared
from assessor.work.blindness import record_exposure
from assessor.work.models import MAX_REASON, Task
from assessor.work.write_protocol import BadWrite, Closed, Gone, Result, SignOfWork, Stale, counted

_COUNTED = SignOfWork(
    Task.objects.all(), done=Parameter("done"), total=Parameter("total"), worked_at=Parameter("now", DateTimeField())
)


def _locking(shown: Parameter | None) -> Prepared[RelevanceJudgment]:
    which = {name: Parameter(name) for name in ("pk", "condition", "topic")}
    can_be_opened_now = ExpressionWrapper(is_ready(Parameter("campaign"), shown), output_field=BooleanField())
    items = RelevanceJudgment.objects.filter(**which).annotate(can_be_opened=can_be_opened_now)
    return Prepared(items.select_for_update(of=("self",)))


_LOCKING, _LOCKING_SHOWN = _locking(None), _locking(Parameter("shown"))


def judge(
    task: Task,
    *,
    item: RelevanceJudgment,
    grade: int | None,
    reason: str,
    seconds: int | None,
    acting_user: Person,
    seen: int,
) -> Result:
    """Grade a passage, or say (grade None) why it can't be judged; of one's own, say something else.

    Returns how far the topic is then. Raises Stale, Closed, Gone and BadWrite.
    """
    folded = _reason(task.condition, grade, reason)
    states = _locked(task)
    _lock(item, task, acting_user, seen)
    if task.condition.method == POST_EDITED and item.shown_to_id != acting_user.pk:
        raise BadWrite("The model's grade goes with this passage and has not been shown.")
    item.holder = item.held_until = None
    value = None if grade is None else str(grade)
    source = _keep(item, task, acting_user, "label", value=value, reason=folded, seconds=counted(seconds))
    return _tell(task, source, states, acting_user)


def undo(task: Task, *, item: RelevanceJudgment, acting_user: Person, seen: int) -> Result:
    """Take back what a person said of a passage: it is to be graded again. Raises Stale, Closed, Gone and BadWrite."""
    states = _locked(task)
    _lock(item, task, acting_user, seen)
    if not item.is_said:
        raise BadWrite("Nothing is said of this passage, so there is nothing to take back.")
    if task.condition.manual_setup.from_queue:
        item.holder, item.held_until = acting_user, shared_now() + LEASE
    source = _keep(item, task, acting_user, "undo")
    return _tell(task, source, states, acting_user)


def show(task: Task, *, item: RelevanceJudgment, acting_user: Person, seen: int) -> Result:
    """Return the model's grade of a passage that is now on screen, and record that this person has seen it.

    Raises Gone and BadWrite.
    """
    condition = task.condition
    if condition.method != POST_EDITED:
        raise BadWrite("No model's grade is shown here.")
    _lock(item, task, acting_user, seen=None)
    graded = shown_grades(condition).filter(topic=task.topic, docid=item.docid).values_list("grade", flat=True).first()
    if graded is None:
        raise BadWrite("The model has not graded this passage.")
    if item.shown_to_id != acting_user.pk:
        item.shown_value, item.shown_to = str(graded), acting_user
        item.save(update_fields=["shown_value", "shown_to"])
        where = f"{condition}: {item.docid}"[:200]
        record_exposure(acting_user, [task.topic], RELEVANCE.name, where)
    return {"version": seen, "shown": str(graded)}


def _reason(condition: Condition, grade: int | None, reason: str) -> str:
    """Return why a passage can't be judged, none with a grade. Raises BadWrite for no such grade, or no reason."""
    if grade is not None:
        if not 0 <= grade <= condition.max_grade:
            raise BadWrite(f"A grade is one of {', '.join(map(str, range(condition.max_grade + 1)))}.")
        return ""
    folded = " ".join(reason.split())
    if not folded or len(folded) > MAX_REASON or "\x00" in folded:
        raise BadWrite(f"Say in at most {MAX_REASON} characters why it can't be judged.")
    return folded


def _locked(task: Task) -> dict[int, str]:
    """Lock a task with all others of its topic, of which the last passage ends all; return their states by key.

    Raises Closed for a withdrawn one.
    """
    same = Task.objects.filter(topic=task.topic, condition=task.condition).order_by("pk")
    state_of = dict(same.select_for_update(no_key=True, of=("self",)).values_list("pk", "state"))
    if state_of[task.pk] == Task.State.WITHDRAWN:
        raise Closed(
            gettext("This topic was given to somebody else: what you said stands, and nothing more can be said here.")
        )
    return state_of


def _lock(item: RelevanceJudgment, task: Task, person: Person, seen: int | None) -> None:
    """Lock a passage, as it is now, that is this person's to judge: they judged it, or can open it and drew it.

    seen: the version that they saw; None: whichever. Raises BadWrite, Gone and Stale.
    """
    of_topic = {"condition": task.condition_id, "topic": task.topic_id}
    shown = shown_source(task.condition)
    locking = _LOCKING if shown is None else _LOCKING_SHOWN
    now: Any = next(locking.fetch(pk=item.pk, **of_topic, campaign=task.campaign_id, shown=shown), None)
    if now is None:
        raise BadWrite("There is no such passage on this topic.")
    _require_theirs(now, task, person)
    if seen is not None and now.version != seen:
        raise Stale
    vars(item).update(vars(now))


def _require_theirs(item: Any, task: Task, person: Person) -> None:
    if item.is_said:
        if item.task_id != task.pk:
            raise Gone(gettext("Somebody else has graded this passage meanwhile, since it went back to the queue."))
        return
    if item.holder_id not in (None, person.pk) and item.held_until and item.held_until > shared_now():
        raise Gone(gettext("This passage went back to the queue, and somebody else has it on their screen now."))
    if task.condition.manual_setup.from_queue and item.holder_id != person.pk:
        raise Gone(gettext("This passage is in the queue: it is not yours to judge before you draw it."))
    if not item.can_be_opened:
        raise BadWrite(gettext("This passage can't be opened yet, so it can't be judged."))


def _keep(
    item: RelevanceJudgment,
    task: Task,
    person: Person,
    verb: str,
    *,
    value: str | None = None,
    reason: str = "",
    seconds: int | None = None,
) -> QrelsSource:
    """Let this stand of a passage, and make the grade of the condition's source say the same. Returns the source."""
    shown = item.shown_value if item.shown_to_id == person.pk else None
    item.revise(verb, value=value, reason=reason, judge=judge_of(person), task=task, shown_value=shown, seconds=seconds)
    where = {"topic": task.topic, "docid": item.docid}
    # There once somebody has graded; read with the task.
    source: QrelsSource = getattr(task.condition, "grades_made", None) or grades_made_under(task.condition)
    if value is None:
        Grade.everything.filter(source=source, **where).delete()
    else:
        grade = Grade(source=source, **where, grade=int(value), iteration=MADE_HERE)
        which, now = ["source", "topic", "docid"], ["grade", "iteration"]
        Grade.everything.bulk_create([grade], update_conflicts=True, unique_fields=which, update_fields=now)
    return source


def _tell(task: Task, source: QrelsSource, states: dict[int, str], person: Person) -> dict[str, int]:
    """Bring the task's counters up to date, and end or open all tasks of the topic with its last passage.

    Returns how many of the topic's passages others have judged, and how many there are.
    """
    graded, by_this = Count("pk", filter=~TO_DO), Count("pk", filter=Q(task=task))
    counts = items_of(task).aggregate(graded=graded, total=Count("pk"), by_this=by_this)
    to_do, done = counts["total"] - counts["graded"], counts["by_this"]
    own_total = 0 if task.condition.manual_setup.from_queue else done + to_do
    _COUNTED.carry_out(task=task.pk, done=done, total=own_total, now=timezone.now())
    before, after = (Task.State.OPEN, Task.State.FINISHED) if not to_do else (Task.State.FINISHED, Task.State.OPEN)
    if before in states.values():
        same = Task.objects.filter(topic=task.topic, condition=task.condition, state=before)
        same.update(state=after, leased_until=None)  # once finished it is nobody else's any more
        if not to_do:
            pks = [pk for pk, state in states.items() if state == before]
            ended.send(Task, campaign_id=task.campaign_id, pks=pks)
        verb = "relevance finished" if not to_do else "relevance opened again"
        history.record(verb, task, campaign=task.campaign, person=person, condition=task.condition.name)
    mark_changed(source)  # last of all: until the end, everybody else who grades under the condition waits for its row
    return {"others": counts["graded"] - done, "total": counts["total"]}
