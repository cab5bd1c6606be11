"""Answers as they are judged, of either kind: found by name, labelled as people and models do, read as they stand.

Tests outside the apps of labels name no model of theirs: what they need to know of labels, they ask here.
"""

import json
import re
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any, NamedTuple
from uuid import uuid4

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event, Topic
from assessor.work.actions import give_tasks
from assessor.work.models import Exposure, Task, Write
from assignment.argue.models import ArgueSheet
from assignment.argue.models import LabelEvent as ArgueEvent
from assignment.models import AnswerSheet, Assignment, LabelEvent, LeftOut
from nuggets.models import NuggetBank
from nuggets.queries import nuggets_in_order
from support.citations import places
from support.models import LabelEvent as SupportEvent
from support.models import SupportJudgment, SupportSheet

Judged = Any  # an answer under a condition; tests read its pk, answer, version and task, and ask here for the rest


class _Kind(NamedTuple):
    model: Any
    history: Any
    address: str  # of its screen
    columns: tuple[str, ...]  # what may stand
    best: str  # label


_OF_NUGGETS = ("labels", "cannot", "stale", "invalid", "flags", "marks", "shown")
_KINDS = {
    "assignment": _Kind(AnswerSheet, LabelEvent, "assign", _OF_NUGGETS, "support"),
    "grading": _Kind(AnswerSheet, LabelEvent, "assign", _OF_NUGGETS, "5"),
    "argue": _Kind(ArgueSheet, ArgueEvent, "argue", ("labels", "cannot", "stale", "flags", "unresolved"), "yes"),
    "support": _Kind(
        SupportSheet,
        SupportEvent,
        "support",
        ("labels", "cannot", "flags", "shown", "unresolved", "waiting"),
        "full",
    ),
}


# Every write on an answer, by kind, with what goes with it besides the item.
WRITES: dict[str, dict[str, dict[str, str]]] = {
    "assignment": {
        "label": {"label": "support", "seconds": "4"},
        "cannot": {"reason": "garbled"},
        "flag": {"note": "odd"},
        "mark": {"marks": "[[0, 0, 4]]"},
        "show": {},
        "later": {},
    },
    "grading": {
        "label": {"label": "5", "seconds": "4"},
        "cannot": {"reason": "garbled"},
        "flag": {"note": "odd"},
        "mark": {"marks": "[[0, 0, 4]]"},
        "show": {},
        "later": {},
    },
    "argue": {
        "label": {"label": "yes", "seconds": "4"},
        "cannot": {"reason": "garbled", "seconds": "3"},
        "flag": {"note": "odd"},
        "later": {},
    },
    "support": {
        "label": {"label": "full", "seconds": "4"},
        "cannot": {"reason": "garbled", "seconds": "3"},
        "flag": {"note": "odd"},
        "show": {},
        "later": {},
    },
}


def _kind(judged: Judged) -> _Kind:
    return next(kind for kind in _KINDS.values() if isinstance(judged, kind.model))


# ---- giving and finding ----


def give(condition: Condition, topic: Topic, person: Person, reason: str = "") -> Task:
    """Give a person a topic; return the task as it is then."""
    [task] = give_tasks(
        campaign=condition.campaign,
        topics=[topic],
        condition=condition,
        person=person,
        acting_user=None,
        reason=reason,
    )
    return Task.objects.get(pk=task.pk)


def all_judged(
    under: Condition | Task, tag: str | None = None, qid: str | None = None, *, in_or_out: bool = False
) -> list[Judged]:
    """Return the answers that are judged under a condition or task, those of a run or on a topic alone.

    in_or_out: those that left its scope, too.
    """
    condition = under.condition if isinstance(under, Task) else under
    named = {"answer__run__tag": tag, "answer__topic__qid": qid}
    model = _KINDS[condition.kind].model
    found = model.in_or_out.all() if in_or_out else model.objects.all()
    found = found.filter(**{name: value for name, value in named.items() if value})
    found = found.filter(task=under) if isinstance(under, Task) else found.filter(condition=under)
    return list(found.select_related("answer__run", "answer__topic", "condition__campaign").order_by("place", "pk"))


def judged(under: Condition | Task, tag: str | None = None, qid: str | None = None) -> Judged:
    [found] = all_judged(under, tag, qid)
    return found


def model_of(condition: Condition) -> type[Model]:
    """Return the model whose rows say what stands under a condition."""
    model: type[Model] = _KINDS[condition.kind].model
    return model


def again(one: Judged) -> Judged:
    """Return it as it is now, in or out of scope."""
    return _kind(one).model.everything.get(pk=one.pk)


# ---- what stands ----


def nuggets_of(bank: NuggetBank) -> list[int]:
    """Return the keys of the nuggets on a bank's list, in order."""
    return [nugget.pk for nugget in nuggets_in_order(bank)]


def asked(one: Judged) -> list[Any]:
    """Return the items that are asked: nuggets' ids, or citations as sentence.place."""
    kept = again(one)
    return nuggets_of(kept.bank) if kept.asked is None else list(kept.asked)


def given(one: Judged) -> dict[str, str]:
    """Return the labels that count, by item."""
    return dict(again(one).labels)


def judgeable(one: Judged) -> list[Any]:
    """Return the items that are asked and can be judged: a citation can't whose text is not loaded."""
    kept = again(one)
    if isinstance(kept, ArgueSheet):
        return [item for item in kept.asked if item not in kept.unresolved]
    return kept.open if isinstance(kept, SupportSheet) else asked(one)


def stands(one: Judged) -> dict[str, Any]:
    """Return what stands on an answer now, without what is empty."""
    kept = again(one)
    return {name: getattr(kept, name) for name in _kind(one).columns if getattr(kept, name)} | {"to_do": kept.to_do}


def history(one: Judged) -> QuerySet[Any]:
    """Return its changes, the first one first."""
    return one.revisions.order_by("version")


def everything(*kinds: str) -> list[Any]:
    """Return all that a write could touch, to show that it touched nothing."""
    models = [model for name in kinds or _KINDS for model in (_KINDS[name].model, _KINDS[name].history)]
    further = (Assignment, SupportJudgment, Event, Write, Exposure, Task)
    return [list(model._base_manager.order_by("pk").values()) for model in (*models, *further)]


def snapshot(under: Condition | Task) -> list[dict[str, Any]]:
    """Return all that is kept of the answers under a condition or task, to show that nothing changed."""
    own = ("_state", "_labels", "_unsaved", "_before")
    return [
        {name: value for name, value in vars(one).items() if name not in own} | {"stands": stands(one)}
        for one in all_judged(under)
    ]


def counters(task: Task) -> tuple[str, int, int]:
    found = Task.objects.get(pk=task.pk)
    return found.state, found.done, found.total


# ---- saying something, as a browser does ----


def url(one: Judged, verb: str = "", task: int | None = None) -> str:
    return f"/{_kind(one).address}/{task or one.task_id}/answers/{one.pk}/{verb + '/' if verb else ''}"


def send(
    client: Client,
    one: Judged,
    verb: str,
    item: object = None,
    *,
    key: object = None,
    version: object = None,
    task: int | None = None,
    **fields: object,
) -> HttpResponse:
    """Send a write as the browser does: with a new key, and the answer's present version, where none is given."""
    if version is None:
        version = again(one).version
    sent = _named(one, item) | fields
    data = {"key": str(key or uuid4()), "version": str(version)} | {name: str(value) for name, value in sent.items()}
    return client.post(url(one, verb, task), data, headers={"X-Assay-Write": "1"})


def _named(one: Judged, item: Any) -> dict[str, object]:
    if item is None:
        return {}
    if isinstance(one, ArgueSheet):
        return {"item": item}
    return {"nugget": item} if isinstance(one, AnswerSheet) else {"citation": item, "docid": docid_at(one, item)}


def docid_at(one: Judged, citation: str) -> str:
    """Return what a citation points to, or nothing where there is none."""
    try:
        sentence, place = places(citation)
        return list(one.answer.sentences())[sentence].citations[place].docid
    except (IndexError, ValueError, ObjectDoesNotExist):
        return ""


def label_all(client: Client, one: Judged, label: str | None = None) -> None:
    """Give all items of an answer the same label, by default one that counts for it."""
    label = label or _KINDS[one.condition.kind].best
    for item in asked(one):
        assert send(client, one, "label", item, label=label).status_code == 200


def sign_off(
    client: Client, task: Task, *, key: object = None, version: object = None, screen: str | None = None
) -> HttpResponse:
    """Sign a topic off as the browser does: the version is the sum of those of the answers.

    screen: the kind on whose screen; by default the task's own.
    """
    kind = _KINDS[screen or task.condition.kind]
    if version is None:
        shown = kind.model.objects.filter(task=task)
        asks = {SupportSheet: {"total__gt": 0}, AnswerSheet: {"by_rule": False}}
        shown = shown.filter(**asks.get(kind.model, {}))  # ARGUE sheets that ask nothing have no version yet
        version = sum(shown.values_list("version", flat=True))
    return client.post(f"/{kind.address}/{task.pk}/sign-off/", {"key": str(key or uuid4()), "version": str(version)})


def answers(response: HttpResponse) -> list[int]:
    """Return the keys of the answers in a page or fragment, in order."""
    return [int(key) for key in re.findall(r'<article class="answer" id="a(\d+)"', response.content.decode())]


def said(response: HttpResponse) -> list[dict[str, Any]]:
    """Return what a page or fragment says stands on its answers, in order."""
    return [json.loads(unescape(text)) for text in re.findall(r'data-said="(.*?)"', response.content.decode())]


def queue(response: HttpResponse) -> list[list[int]]:
    """Return the queue of a page, a row for each answer: its key first."""
    [text] = re.findall(r'data-queue="(.*?)"', response.content.decode())
    return json.loads(unescape(text))


def told(response: HttpResponse) -> str:
    """Return all that a response tells: body, headers, cookies."""
    return f"{response.status_code} {response.content.decode()} {sorted(response.items())} {response.cookies}"


def last_change(one: Judged) -> dict[str, Any]:
    """Return what the newest change made of items: {item: {"label": [before, after]}}."""
    events = history(one)
    newest = events.filter(version=events.latest("version").version)
    return {item: change for event in newest for item, change in event.changes_by_item.items()}


# ---- states that pages can't make, or not soon ----


def change(one: Judged, said: Mapping[Any, Mapping[str, Any]], verb: str = "label", **more: Any) -> None:
    """Change what stands of items without a request; unless told otherwise, who has the answer did it."""
    kept = again(one)
    kept.revise(verb, said, **{"judge_id": kept.judge_id, "task_id": kept.task_id} | more)


def put(those: Iterable[Judged], **columns: Any) -> None:
    """Write into columns what no action would, with no trace in the history."""
    for one in those:
        _put(again(one), columns)


def _put(sheet: Judged, columns: Mapping[str, Any]) -> None:
    """Write into an answer's columns, and what stands of its items into their rows."""
    fields = {column: field for field, column in sheet.SAID.items()}
    states = {"unresolved": "no_text", "waiting": "waiting"}
    own = {name: value for name, value in columns.items() if name not in {*fields, *states, "asked"}}
    if "asked" in columns and isinstance(sheet, SupportSheet):
        sheet._ask(columns["asked"])
    for column in fields.keys() & columns.keys():
        said = columns[column]
        for item in {**said, **getattr(sheet, column)}:
            if isinstance(sheet, SupportSheet) and item not in sheet.labels_by_item:
                continue  # the answer cites nothing there
            sheet._put(item, {fields[column]: said.get(item)})
    if "asked" in columns and isinstance(sheet, AnswerSheet):
        sheet.is_part = own["is_part"] = True
        sheet._ask(columns["asked"])
    for column in states.keys() & columns.keys():
        for item in sheet.asked:
            row = sheet._row(item)
            if item in columns[column]:
                row.value, row.state = None, states[column]
            elif row.state == states[column]:
                row.state = "open"
    type(sheet).everything.filter(pk=sheet.pk).update(**sheet._columns_of(fields.values()) | own)
    sheet._save_labels({})


def equal_first(one: Judged) -> dict[str, list[Any]]:
    """Return where the one of equal citations is that is asked, its answer's key and its own, by citation."""
    rows = again(one).labels_by_item.items()
    return {key: [row.equal_to.sheet_id, row.equal_to.item] for key, row in rows if row.equal_to}


def forget_equal(task: Task) -> None:
    """Let no citation of a task be known as equal to another."""
    SupportJudgment.objects.filter(sheet__task=task).update(equal_to=None)


def move(one: Judged, before: str, after: str) -> None:
    """Let a citation be in another place of its sentence, as if a run file had brought further ones."""
    (sentence, place), (_, to) = places(before), places(after)
    SupportJudgment.objects.filter(sheet=one.pk, sentence=sentence, citation=place).update(citation=to)


def label_rows(condition: Condition) -> QuerySet[Any]:
    """Return all labels under a condition as rows, to put them in states that take long to reach."""
    model: Any = SupportJudgment if condition.kind == "support" else Assignment
    return model.everything.filter(sheet__condition=condition)  # type: ignore[no-any-return]


def leave_out(condition: Condition, nugget: int, reason: str, person: Person | None = None) -> None:
    """Leave a nugget out of a condition's scores."""
    LeftOut.objects.create(condition=condition, nugget_id=nugget, is_out=True, reason=reason, person=person)
