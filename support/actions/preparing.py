"""Conditions under which people judge support, and the citations that they are given."""

import random

from django.db import transaction
from django.db.models import Max, Q

from assessor.collection import history
from assessor.collection.actions import ConditionError, create_condition, judge_of
from assessor.collection.models import CONTROL, Answer, Campaign, Condition, Person
from assessor.work.actions import PlanError
from assessor.work.models import Task
from assessor.work.sheets import revise
from support.actions.sheets import add_sheets, open_waiting, resolve, sheet_row
from support.citations import judged_citations
from support.models import Judging, SupportSheet
from support.queries import are_a_models, citations_are_known, given_labels, loaded_docids, progress, sheets_on

_SEEDS = 2**31


@transaction.atomic
def create_support(*, campaign: Campaign, name: str, shown: Condition | None, acting_user: Person | None) -> Condition:
    """Make a condition in which people judge support: from scratch, or shown a model's labels.

    shown: the condition whose labels stand beside the choices; it names the one judge. Raises ConditionError.
    """
    if shown:
        _require_labels_to_show(campaign, shown)
    methods = Condition.Method
    condition = Condition(
        campaign=campaign,
        name=name,
        kind=Condition.Kind.SUPPORT,
        method=methods.SUPPORT_POST_EDITED if shown else methods.SUPPORT_FROM_SCRATCH,
        shown=shown,
    )
    create_condition(condition, acting_user=acting_user)
    Judging.objects.create(condition=condition, seed=random.SystemRandom().randrange(_SEEDS))
    return condition


def _require_labels_to_show(campaign: Campaign, shown: Condition) -> None:
    if shown.campaign_id != campaign.pk:
        raise ConditionError(f"{shown} is not a condition of {campaign}.")
    if shown.kind != Condition.Kind.SUPPORT:
        raise ConditionError(f"What is post-edited are labels of support; those of {shown} are of {shown.kind}.")
    if not are_a_models(shown):
        raise ConditionError(f"What is post-edited are a model's labels; those of {shown} are people's.")


def prepare_sheets(task: Task) -> None:
    """Make the sheets that a task's person will fill, and take over what another one left. Raises PlanError."""
    judging = Judging.objects.filter(condition=task.condition).first()
    if judging is None:
        raise PlanError(f"Nobody can be given {task.condition}: it is not done by people on a screen.")
    # First what can be judged by now: then it is known who has done all of an answer.
    resolve(task.condition, task.topic)
    if task.condition.shown:
        open_waiting(task.condition, task.topic)
    take_over(task, judging)
    _add_sheets(task, judging)
    if not SupportSheet.objects.filter(task=task).exists():
        raise PlanError(f"There is no answer to judge on {task.topic.qid} under {task.condition}.")
    count(task)


def renew_sheets(task: Task) -> None:
    """Add what came since to a task that is given again, and open it if something is to be done. Raises PlanError."""
    prepare_sheets(task)
    task.refresh_from_db(fields=["state", "done", "total"])


def _order(judging: Judging, task: Task) -> random.Random:
    return random.Random(f"{judging.seed} {task.topic.qid} {task.person_id}")  # noqa: S311  # an order, no secret


def _add_sheets(task: Task, judging: Judging) -> None:
    """Write the sheets that are not there yet; in shuffled order, so that not even their keys tell a run."""
    condition, topic = task.condition, task.topic
    there = sheets_on(task).values("answer")
    own = Answer.objects.filter(topic=topic, apart=False, run__import_record__state="done").exclude(run__task=CONTROL)
    # Of a bare text that came with labels of nuggets nobody knows yet what it cites.
    new = [answer for answer in own.exclude(pk__in=there).order_by("run__tag") if citations_are_known(answer)]
    _order(judging, task).shuffle(new)
    most = condition.protocol.citations_per_sentence
    asked = [judged_citations(answer.sentences(), most) for answer in new]
    loaded = loaded_docids(condition.campaign, {docid for of_answer in asked for docid in of_answer.values()})
    labelled = given_labels(condition.shown, topic) if condition.shown else None
    judge, first = judge_of(task.person), _next_place(task)
    rows = []
    for place, (answer, citations) in enumerate(zip(new, asked, strict=True), first):
        unresolved = [key for key, docid in citations.items() if docid not in loaded]
        waiting: list[str] = []
        if labelled is not None:
            there_is = labelled.get(answer.pk, {})
            waiting = [key for key in citations if key not in unresolved and key not in there_is]
        rows.append(
            sheet_row(
                condition=condition.pk,
                answer=answer.pk,
                judge=judge.pk,
                asked=list(citations),
                unresolved=unresolved,
                waiting=waiting,
                task=task.pk,
                place=place,
            )
        )
    add_sheets(rows)


def _next_place(task: Task) -> int:
    last: int | None = SupportSheet.objects.filter(task=task).aggregate(last=Max("place"))["last"]
    return 0 if last is None else last + 1


def take_over(task: Task, judging: Judging) -> None:
    """Make a task's what somebody else was given before and has not done; what they began starts anew.

    Answers that they have done stay theirs, and count. Those of which nothing is said, because nothing can be, go
    along.
    """
    left = sheets_on(task).filter(Q(to_do__gt=0) | Q(labels={}, cannot={})).exclude(task=task)
    sheets = list(left.order_by("pk"))
    _order(judging, task).shuffle(sheets)
    judge, nothing = judge_of(task.person), dict.fromkeys(SupportSheet.SAID)
    for place, sheet in enumerate(sheets, _next_place(task)):
        said = {**sheet.labels, **sheet.cannot, **sheet.flags, **sheet.shown}
        revise(
            sheet,
            "handed over",
            dict.fromkeys(said, nothing),
            judge_id=judge.pk,
            task_id=task.pk,
            columns={"judge": judge, "task": task, "place": place, "put_off": 0},
        )


def count(task: Task) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again."""
    # Locked before anything is counted: its person may save a label or sign off at the same moment.
    locked = Task.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=task.pk)
    found = progress(sheets_on(locked))
    locked.done, locked.total = found.done, found.total
    if locked.state == Task.State.FINISHED and locked.done < locked.total:
        locked.state = Task.State.OPEN
        history.record("support opened again", locked, campaign=locked.campaign, person=None)
    locked.save(update_fields=["done", "total", "state"])
