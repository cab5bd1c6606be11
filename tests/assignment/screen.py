"""Writes on answers as the browser sends them, and what stands on an answer."""

import json
import re
from html import unescape
from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.test import Client

from assessor.collection.models import Event
from assessor.work.models import Exposure, Task, Write
from assignment.models import AnswerSheet, Revision

# Every write on an answer, with what goes with it besides the nugget.
WRITES: dict[str, dict[str, str]] = {
    "label": {"label": "support", "seconds": "4"},
    "cannot": {"reason": "garbled"},
    "flag": {"note": "odd"},
    "mark": {"marks": "[[0, 0, 4]]"},
    "later": {},
}


def url(sheet: AnswerSheet, verb: str = "", task: int | None = None) -> str:
    return f"/assign/{task or sheet.task_id}/answers/{sheet.pk}/{verb + '/' if verb else ''}"


def send(
    client: Client,
    sheet: AnswerSheet,
    verb: str,
    nugget: int | None = None,
    *,
    key: object = None,
    version: object = None,
    task: int | None = None,
    **fields: object,
) -> HttpResponse:
    """Send a write as the browser does: with a new key, and the sheet's present version, where none is given."""
    if version is None:
        version = AnswerSheet.objects.get(pk=sheet.pk).version
    sent = {"nugget": nugget, **fields} if nugget is not None else fields
    data = {"key": str(key or uuid4()), "version": str(version)} | {name: str(value) for name, value in sent.items()}
    return client.post(url(sheet, verb, task), data, headers={"X-Assay-Write": "1"})


def sign_off(client: Client, task: Task, *, key: object = None, version: object = None) -> HttpResponse:
    """Sign a topic off as the browser does: the version is the sum of those of the answers."""
    if version is None:
        version = sum(sheet.version for sheet in AnswerSheet.objects.filter(task=task, by_rule=False))
    return client.post(f"/assign/{task.pk}/sign-off/", {"key": str(key or uuid4()), "version": str(version)})


def label_all(client: Client, sheet: AnswerSheet, label: str = "support") -> None:
    """Label all nuggets of an answer."""
    for nugget in sheet.bank.editions.get(edition=sheet.bank.edition).nuggets:
        assert send(client, sheet, "label", nugget["id"], label=label).status_code == 200


def stands(sheet: AnswerSheet) -> dict[str, Any]:
    """Return what stands on a sheet now, without what is empty."""
    kept = AnswerSheet.objects.get(pk=sheet.pk)
    columns = ("labels", "cannot", "stale", "invalid", "flags", "marks")
    return {column: getattr(kept, column) for column in columns if getattr(kept, column)} | {"to_do": kept.to_do}


def counters(task: Task) -> tuple[str, int, int]:
    found = Task.objects.get(pk=task.pk)
    return found.state, found.done, found.total


def everything() -> list[Any]:
    """Return all that a write could touch, to show that it touched nothing."""
    return [
        list(model.objects.order_by("pk").values()) for model in (AnswerSheet, Revision, Event, Write, Exposure, Task)
    ]


def answers(response: HttpResponse) -> list[int]:
    """Return the keys of the answers in a page or fragment, in order."""
    return [int(key) for key in re.findall(r'<article class="answer" id="a(\d+)"', response.content.decode())]


def said(response: HttpResponse) -> list[dict[str, Any]]:
    """Return what a page or fragment says stands on its answers, in order."""
    return [json.loads(unescape(text)) for text in re.findall(r'data-said="(.*?)"', response.content.decode())]


def queue(response: HttpResponse) -> list[list[int]]:
    """Return the queue of a page: key, number, to do, version and place of each answer."""
    [text] = re.findall(r'data-queue="(.*?)"', response.content.decode())
    return json.loads(unescape(text))
