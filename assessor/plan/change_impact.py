"""What a change of the plan touches, told before it is made."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition, Run, Topic
from assessor.labels.models import Label
from assessor.plan.actions import Piece, Wanted
from assessor.scores.score_source import about_runs, scoring_of
from assessor.work.judging_pool import ALL, NONE, Judged, judged_under, of_campaign
from assessor.work.models import Task

_AT_A_TIME = 2_000


class Touched(NamedTuple):
    """What leaves the scores and what comes back to them: answers, labels on them, tasks with such answers."""

    leave: int
    labels_leaving: int
    back: int
    labels_back: int
    tasks: int
    what: str  # what is called an answer here

    def told(self) -> list[str]:
        """Return it in words."""
        found = []
        if self.leave:
            found.append(f"{_many(self.leave, self.what)} with {_many(self.labels_leaving, 'label')} leave the scores.")
        if self.back:
            found.append(f"{_many(self.back, self.what)} with {_many(self.labels_back, 'label')} come back to them.")
        if self.tasks:
            found.append(f"{_many(self.tasks, 'task')} change{'s' if self.tasks == 1 else ''}.")
        return found


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def of_rule(condition: Condition, topics: Sequence[Topic], rule: str) -> Touched:
    """Say what it touches to have the runs of a rule judged on topics."""
    known = judged_under(condition)
    rules = known.rules | {topic.pk: rule for topic in topics}
    judged = of_campaign(condition.campaign, rules, known.dropped)
    return _touched(condition, judged, answer__topic__in=[topic.pk for topic in topics])


def of_blind_work(person: Person | None, topics: Sequence[Topic], conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield where a person would have blind work on a topic, and work of that kind that starts from a model's.

    conditions: those under which they are to get the topics; None draws them, and is looked at then.
    """
    if person is None or not conditions or not conditions[0].campaign.protocol.blind_after_seeing:
        return
    there = {topic.pk: set(conditions) for topic in topics}
    open_tasks = Task.objects.filter(person=person, topic__in=topics, state=Task.State.OPEN)
    for task in open_tasks.select_related("condition"):
        there[task.topic_id].add(task.condition)
    mixed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for topic in topics:
        for blind, other in product(sorted(there[topic.pk], key=lambda one: one.pk), repeat=2):
            is_new = blind in conditions or other in conditions
            if is_new and blind.is_blind() and blind.kind in kind_of(other).spoils(other):
                mixed[blind.name, other.name].append(topic.qid)
    for (blind_name, other_name), qids in mixed.items():
        yield (
            f"{person} would work on {', '.join(qids)} blind, under {blind_name}, and from what a model gave, under "
            f"{other_name}. Whoever opens the second first can't do the first any more."
        )


def of_run(condition: Condition, run: Run, *, is_out: bool) -> Touched:
    """Say what it touches to drop a run, or to bring it back."""
    known = judged_under(condition)
    dropped = {pk: why for pk, why in known.dropped.items() if pk != run.pk} | ({run.pk: ""} if is_out else {})
    judged = of_campaign(condition.campaign, known.rules, dropped)
    if kind_of(condition).can_drop_runs and not kind_of(condition).judges_answers:
        return _touched_records(condition, known, judged, run)
    return _touched(condition, judged, answer__run=run.pk)


def _touched_records(condition: Condition, before: Judged, after: Judged, run: Run) -> Touched:
    """Say what is touched of records about several answers, which bear no mark: all of these must be judged."""
    by = scoring_of(condition.kind)
    records = kind_of(condition).scored.objects.filter(about_runs(by, run), condition=condition.pk).order_by()
    counts, tasks = Counter[tuple[bool, bool]](), set()
    for topic, state, task, *runs in records.values_list(by.topic, "state", "task", *by.runs).iterator(_AT_A_TIME):
        was, will_be = (all(judged.holds(topic, one) for one in runs) for judged in (before, after))
        if was != will_be:
            counts[was, state == Label.State.GIVEN] += 1
            tasks |= {task} - {None}
    leave, back = ([counts[was, False], counts[was, True]] for was in (True, False))
    return Touched(sum(leave), leave[1], sum(back), back[1], len(tasks), condition.text_name)


def _touched(condition: Condition, judged: Judged, **which: Any) -> Touched:
    sheets: Any = kind_of(condition).sheets
    if sheets is None:
        return Touched(0, 0, 0, 0, 0, condition.text_name)
    leave: set[int] = set()
    back: set[int] = set()
    tasks: set[int] = set()
    found = sheets.in_or_out.filter(condition=condition.pk, **which).order_by()
    rows = found.values_list("pk", "answer__topic", "answer__run", "out_of_scope", "task")
    for pk, topic, run, is_out, task in rows.iterator(_AT_A_TIME):
        if judged.holds(topic, run) != is_out:
            continue
        (back if is_out else leave).add(pk)
        if task:
            tasks.add(task)
    labels_leaving = labels_back = 0
    for pk, given, _ in sheets.said(found) if leave or back else ():
        labels_leaving += len(given) if pk in leave else 0
        labels_back += len(given) if pk in back else 0
    return Touched(len(leave), labels_leaving, len(back), labels_back, len(tasks), condition.text_name)


def of_change(piece: Piece, wanted: Wanted) -> list[str]:
    """Say in words what a change of a piece of work touches."""
    told = []
    task = piece.task
    if wanted.condition != piece.condition:
        told += of_rule(piece.condition, [piece.topic], NONE).told()
        told += of_rule(wanted.condition, [piece.topic], wanted.rule or ALL).told()
        told.append(f"Labels under {piece.condition} are kept, and count again if the topic comes back.")
    elif wanted.rule and wanted.rule != piece.rule:
        told += of_rule(piece.condition, [piece.topic], wanted.rule).told()
    is_handed_over = task is not None and (wanted.person != piece.person or wanted.condition != piece.condition)
    if task and is_handed_over and task.state == Task.State.OPEN:
        items = kind_of(task).counted
        done = f"{items} {task.done}{f'/{task.total}' if task.total else ''}"
        told.append(f"{task.person} loses the task ({done}). Finished labels count; the rest starts again.")
    if task and wanted.paused != task.paused and not is_handed_over:
        told.append(
            f"{task.person} can't open it until you resume it. Labels being saved now are kept."
            if wanted.paused
            else f"{task.person} can continue."
        )
    return told or ["No labels so far."]
