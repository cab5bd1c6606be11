"""A pool to grade, UMBRELA and people to grade it, and writes as the browser sends them."""

import json
import re
from collections.abc import Sequence
from html import unescape
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import Campaign, Condition, Judge, QrelsSource, Segment, Topic
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PromptSet
from assessor.relevance.actions import create_relevance, judge
from assessor.relevance.models import RelevanceJudgment
from assessor.relevance.umbrela import RELEVANCE_PROMPT
from assessor.work.actions import give_tasks
from assessor.work.models import Task

# t1 pools d1, d2, d3 and d4, whose text is not loaded; t2 pools d5. The third of each ranking is beyond depth 2.
RANKINGS = {
    "one": "t1 Q0 d2 1 9 one\nt1 Q0 d1 2 8 one\nt1 Q0 d5 3 7 one\nt2 Q0 d5 1 9 one\n",
    "two": "t1 Q0 d4 1 9 two\nt1 Q0 d3 2 8 two\nt1 Q0 d1 3 7 two\n",
}


@pytest.fixture
def pooled(campaign: Campaign, import_file) -> Campaign:
    """The campaign with two retrieval runs and a pool of depth 2."""
    protocol = campaign.protocol
    protocol.pool_depth = 2
    protocol.save()
    for content in RANKINGS.values():
        assert import_file(campaign, "retrieval", content).state == "done"
    return campaign


@pytest.fixture
def model(pooled: Campaign) -> ModelJudge:
    """A model as a judge. Nobody calls it here."""
    judge = Judge.objects.create(kind=Judge.Kind.MODEL, name="Mia", parameters={"model": "mia"})
    return ModelJudge.objects.create(judge=judge, campaign=pooled, base_url="http://127.0.0.1:9/v1")


@pytest.fixture
def prompts() -> PromptSet:
    return prompt_set("assay-1")


@pytest.fixture
def umbrela(pooled: Campaign, model: ModelJudge, prompts: PromptSet, olga: Person) -> Condition:
    """UMBRELA by Mia, with nothing graded yet."""
    condition = Condition(
        campaign=pooled,
        name="UMBRELA",
        kind="relevance",
        method="UMBRELA",
        judge=model.judge,
        prompts=prompts.hashes([RELEVANCE_PROMPT]),
    )
    return create_condition(condition, acting_user=olga)


@pytest.fixture
def job(umbrela: Condition, model: ModelJudge) -> Job:
    return Job.objects.create(campaign=umbrela.campaign, kind="UMBRELA", condition=umbrela, judge=model)


def give_relevance(
    campaign: Campaign,
    person: Person,
    topics: Sequence[Topic] | None = None,
    *,
    from_queue: bool = False,
    shown: QrelsSource | None = None,
) -> Task:
    """Give a person topics (t1) to grade, under a condition made for it; return the task on the first of them."""
    name = "post-edited" if shown else "from a queue" if from_queue else "given"
    condition = campaign.conditions.filter(name=name).first() or create_relevance(
        campaign=campaign, name=name, shown=shown, from_queue=from_queue, acting_user=None
    )
    topics = topics or [campaign.topics.get(qid="t1")]
    given = give_tasks(campaign=campaign, topics=topics, condition=condition, person=person, acting_user=None)
    return given[0]


def judge_item(item: RelevanceJudgment, grade: int = 2) -> None:
    """Grade a passage for the person who has its topic, whether its text was loaded and they drew it or not."""
    task = Task.objects.get(topic=item.topic, condition=item.condition)
    if not Segment.objects.filter(campaign=task.campaign, docid=item.docid).exists():
        record = Segment.objects.latest("pk").import_record
        Segment.objects.create(campaign=task.campaign, docid=item.docid, text="text", import_record=record)
    RelevanceJudgment.objects.filter(pk=item.pk).update(holder=task.person, shown_to=task.person)
    judge(
        task,
        item=item,
        grade=grade,
        reason="",
        seconds=None,
        acting_user=task.person,
        seen=RelevanceJudgment.objects.get(pk=item.pk).version,
    )


@pytest.fixture
def task(pooled: Campaign, anna: Person) -> Task:
    """Anna's task: to grade t1's pool from scratch."""
    return give_relevance(pooled, anna)


@pytest.fixture
def queue(pooled: Campaign, anna: Person) -> Task:
    """Anna's task in a queue on t1, which others may be given too."""
    return give_relevance(pooled, anna, from_queue=True)


@pytest.fixture
def edited(pooled: Campaign, anna: Person, import_file) -> Task:
    """Anna's task on t1, where Mia's grades stand beside the choices; Mia has not graded d3."""
    grades = "t1 0 d1 3\nt1 0 d2 0\nt1 0 d4 1\n"
    assert import_file(pooled, "qrels", grades, source="Mia's", by="model").state == "done"
    return give_relevance(pooled, anna, shown=pooled.qrels_sources.get(name="Mia's"))


def send(client: Client, task: Task, verb: str, *, key: object = None, version: object = None, **fields: object):
    """Send a write as the browser does: with a new key, and the passage's present version, where none is given."""
    if version is None:
        item = str(fields.get("item", ""))
        found = RelevanceJudgment.objects.filter(pk=item).first() if item.isdigit() else None
        version = found.version if found else 0
    data = {"key": str(key or uuid4()), "version": str(version), **{name: str(value) for name, value in fields.items()}}
    return client.post(f"/relevance/{task.pk}/{verb}/", data, headers={"X-Assay-Write": "1"})


def at_hand(response: HttpResponse) -> list[int]:
    """Return the keys of the passages in a page or fragment, in order."""
    return [int(pk) for pk in re.findall(r'<article class="passage answer" id="i(\d+)"', response.content.decode())]


def queue_of(response: HttpResponse) -> dict[int, list[int]]:
    """Return the queue that a page or fragment tells, by passage: what is to do, and the version."""
    [rows] = re.findall(r'data-queue="(.*?)"', response.content.decode())
    return {key: [to_do, version] for key, _, to_do, version, _ in json.loads(unescape(rows))}


def said(task: Task) -> dict[str, str]:
    """Return what stands said of a topic's passages, by docid."""
    items = RelevanceJudgment.objects.filter(condition=task.condition, topic=task.topic).order_by("docid")
    return {item.docid: item.said if item.is_said else "" for item in items}
