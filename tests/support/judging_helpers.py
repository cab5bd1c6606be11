"""Answers that cite, a model's labels of them, people who judge them, and what their browsers send."""

import json
import re
from html import unescape
from typing import Any
from uuid import uuid4

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpResponse
from django.test import Client

from assessor.collection.models import Answer, Campaign, Condition, Event, Judge, Person, Topic
from assessor.collection.passages import lacking_passages
from assessor.work.actions import give_tasks
from assessor.work.models import Exposure, Task, Write
from support.actions import add_sheets, create_support, sheet_row
from support.actions.sheets import docid_of
from support.citations import judged_citations
from support.models import Revision, SupportSheet

# Of each run its sentences, with what each cites. The text of d4 is not loaded.
RUNS: dict[str, dict[str, list[tuple[str, list[str]]]]] = {
    "team.one": {
        "t1": [("Cats purr to heal.", ["d1"]), ("They purr when content.", ["d2", "d1"]), ("Nobody knows why.", [])],
        "t2": [("Glass is melted.", ["d5"])],
    },
    "team.two": {"t1": [("Cats have voices.", ["d2", "d3"]), ("Some have fur.", ["d4"])]},
    "team.silent": {"t1": [("I cite nothing.", [])]},
}
# What the model says of team.one's and team.two's first citations on t1; of team.one's second it says nothing.
MODELS = {"team.one": {"0.0": "partial"}, "team.two": {"0.0": "none"}}

# Every write on an answer, with what goes with it besides the citation.
WRITES: dict[str, dict[str, str]] = {
    "label": {"label": "full", "seconds": "4"},
    "cannot": {"reason": "garbled", "seconds": "3"},
    "flag": {"note": "odd"},
    "show": {},
    "later": {},
}


def run_file(tag: str, answers: dict[str, list[tuple[str, list[str]]]]) -> list[dict[str, Any]]:
    """Return a run's lines."""
    lines = []
    for qid, sentences in answers.items():
        references = sorted({docid for _, docids in sentences for docid in docids})
        cited = [{"text": text, "citations": [references.index(one) for one in docids]} for text, docids in sentences]
        lines.append({"run_id": tag, "topic_id": qid, "topic": qid, "references": references, "answer": cited})
    return lines


def load_runs(campaign: Campaign, import_file: Any) -> None:
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"


def models_condition(campaign: Campaign, name: str = "Mia's", by: str = "model") -> Condition:
    """Return a condition of imported labels, without any."""
    judge, _ = Judge.objects.get_or_create(kind="imported", name=name, parameters={"by": by})
    return Condition.objects.create(
        campaign=campaign, name=name, kind="support", method="imported", judge=judge, protocol=campaign.protocol
    )


def label_as_model(condition: Condition, labels: dict[str, dict[str, str]], qid: str = "t1") -> None:
    """Have a condition's judge say of the answers of runs what the labels say, by run's tag and citation's key."""
    rows = []
    for tag, of_answer in labels.items():
        answer = Answer.objects.get(run__campaign=condition.campaign, run__tag=tag, topic__qid=qid, apart=False)
        asked = judged_citations(answer.sentences(), condition.protocol.citations_per_sentence)
        lacking = lacking_passages(condition.campaign, [(answer.run_id, docid) for docid in asked.values()])
        rows.append(
            sheet_row(
                condition=condition.pk,
                answer=answer.pk,
                judge=condition.judge_id or 0,
                asked=list(asked),
                unresolved=[key for key, docid in asked.items() if (answer.run_id, docid) in lacking],
                labels=of_answer,
            )
        )
    add_sheets(rows)


def from_scratch(campaign: Campaign, name: str = "from scratch") -> Condition:
    return create_support(campaign=campaign, name=name, shown=None, acting_user=None)


def post_edited(campaign: Campaign, labels: dict[str, dict[str, str]] = MODELS) -> Condition:
    """Return a condition in which people see what a model says."""
    shown = models_condition(campaign)
    label_as_model(shown, labels)
    return create_support(campaign=campaign, name="support post-edited", shown=shown, acting_user=None)


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


def sheet_of(task: Task, tag: str) -> SupportSheet:
    """Return the sheet of a run's answer under a task's condition, whoever has it."""
    return SupportSheet.objects.get(condition=task.condition, answer__topic=task.topic, answer__run__tag=tag)


def url(sheet: SupportSheet, verb: str = "", task: int | None = None) -> str:
    return f"/support/{task or sheet.task_id}/answers/{sheet.pk}/{verb + '/' if verb else ''}"


def docid_at(sheet: SupportSheet, key: str) -> str:
    """Return what a citation points to, or nothing where there is none."""
    try:
        return docid_of(sheet.answer, key)
    except (IndexError, ValueError, ObjectDoesNotExist):
        return ""


def send(
    client: Client,
    sheet: SupportSheet,
    verb: str,
    citation: str | None = None,
    *,
    key: object = None,
    version: object = None,
    task: int | None = None,
    **fields: object,
) -> HttpResponse:
    """Send a write as the browser does: with a new key, and the sheet's present version, where none is given."""
    if version is None:
        version = SupportSheet.objects.get(pk=sheet.pk).version
    sent = {"citation": citation, "docid": docid_at(sheet, citation), **fields} if citation is not None else fields
    data = {"key": str(key or uuid4()), "version": str(version)} | {name: str(value) for name, value in sent.items()}
    return client.post(url(sheet, verb, task), data, headers={"X-Assay-Write": "1"})


def sign_off(client: Client, task: Task, *, key: object = None, version: object = None) -> HttpResponse:
    """Sign a topic off as the browser does: the version is the sum of those of the answers."""
    if version is None:
        version = sum(sheet.version for sheet in task.support_sheets.exclude(asked=[]))
    return client.post(f"/support/{task.pk}/sign-off/", {"key": str(key or uuid4()), "version": str(version)})


def stands(sheet: SupportSheet) -> dict[str, Any]:
    """Return what stands on a sheet now, without what is empty."""
    kept = SupportSheet.objects.get(pk=sheet.pk)
    columns = ("labels", "cannot", "flags", "shown", "unresolved", "waiting")
    return {column: getattr(kept, column) for column in columns if getattr(kept, column)} | {"to_do": kept.to_do}


def counters(task: Task) -> tuple[str, int, int]:
    found = Task.objects.get(pk=task.pk)
    return found.state, found.done, found.total


def everything() -> list[Any]:
    """Return all that a write could touch, to show that it touched nothing."""
    return [
        list(model.objects.order_by("pk").values()) for model in (SupportSheet, Revision, Event, Write, Exposure, Task)
    ]


def answers(response: HttpResponse) -> list[int]:
    """Return the keys of the answers in a page or fragment, in order."""
    return [int(key) for key in re.findall(r'<article class="answer" id="a(\d+)"', response.content.decode())]


def said(response: HttpResponse) -> list[dict[str, Any]]:
    """Return what a page or fragment says stands on its answers, in order."""
    return [json.loads(unescape(text)) for text in re.findall(r'data-said="(.*?)"', response.content.decode())]


def queue(response: HttpResponse) -> list[list[int]]:
    """Return the queue of a page: key, number, to do, citations, version and place of each answer."""
    [text] = re.findall(r'data-queue="(.*?)"', response.content.decode())
    return json.loads(unescape(text))
