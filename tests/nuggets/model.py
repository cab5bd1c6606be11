"""A model's side of nuggets for tests: judges, conditions and jobs, and a model that says what a test tells it to."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import Campaign, Condition, Judge, Topic
from assessor.llm.job_kind import UnitFailure
from assessor.llm.models import Job, ModelJudge, Unit
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PromptRequest
from nuggets.actions.drafts import store_drafting
from nuggets.auto_nuggets import AutoNuggets, Creation, Drafts, Made
from nuggets.drafting import Cut, Step

PARAMETERS = {"max_tokens": 100, "limit_name": "max_tokens"}
KIND_OF = {kind.method: kind for kind in (AutoNuggets(), Drafts())}
PROMPTS = prompt_set("assay-1")
EDITS = "AutoNuggets+Edits"

Reply = Callable[[PromptRequest[Any]], Any]


def make_model(campaign: Campaign, name: str = "Telltale judge", model: str = "telltale-model-9") -> ModelJudge:
    judge = Judge.objects.create(kind=Judge.Kind.MODEL, name=name, parameters=PARAMETERS | {"model": model})
    return ModelJudge.objects.create(judge=judge, campaign=campaign, base_url="http://127.0.0.1:9/v1")


def make_condition(
    model: ModelJudge, method: str = EDITS, *, source: str = "NIST", name: str = "Telltale condition"
) -> Condition:
    campaign = model.campaign
    condition = Condition(
        campaign=campaign,
        name=name,
        kind="nuggets",
        method=method,
        qrels_source=campaign.qrels_sources.get(name=source),
        judge=model.judge,
        prompts=PROMPTS.hashes(KIND_OF[method].prompts if method in KIND_OF else ()),
    )
    return create_condition(condition, acting_user=None)


def make_job(condition: Condition, topics: Iterable[Topic]) -> Job:
    """Make the job of a condition, with a unit for each topic that is still to be done."""
    assert condition.judge is not None
    kind = KIND_OF[condition.method]
    job = Job.objects.create(
        campaign=condition.campaign, kind=kind.name, condition=condition, judge=condition.judge.model
    )
    units = kind.units(condition, list(topics))
    Unit.objects.bulk_create(Unit(job=job, topic_id=topic_id, item=item) for topic_id, _, item in units)
    return job


class Model:
    """Answers questions as told, and keeps what it was asked: an Ask without an endpoint."""

    prompts = PROMPTS

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked: list[PromptRequest[Any]] = []

    async def __call__(self, question: PromptRequest[Any]) -> Any:
        self.asked.append(question)
        return question.read(self.reply(question))


def run(job: Job, reply: Reply) -> tuple[Model, dict[str, str]]:
    """Carry out a job's units as a worker would, and return the model that was asked, and what failed, by topic."""
    kind: Creation = KIND_OF[job.condition.method]
    model, failed = Model(reply), {}
    units = list(job.units.select_related("topic"))
    prepared = kind.prepare(job, units)
    done: list[tuple[Unit, Made]] = []
    for unit in units:
        work = prepared[unit.pk]
        if isinstance(work, UnitFailure):
            failed[unit.topic.qid] = str(work)
        else:
            done.append((unit, asyncio.run(kind.carry_out(work, model))))
    kind.store(job, done)
    return model, failed


def says(nuggets: Sequence[str], labels: Sequence[str] = ()) -> Reply:
    """Return the reply of a model that always gives this list, and these labels of it, ten at a time."""
    left = list(labels)

    def reply(question: PromptRequest[Any]) -> str:
        if question.name == "creation":
            return repr(list(nuggets))
        batch = [left.pop(0) for _ in range(question.schema["properties"]["labels"]["minItems"])]
        return repr(batch)

    return reply


def draft(condition: Condition, topics: Iterable[Topic], nuggets: Sequence[str], cuts: Sequence[Cut] = ()) -> Job:
    """Let a model have drafted these nuggets on topics, all of them from a window of d1 and d2."""
    job = make_job(condition, topics)
    for unit in job.units.all():
        store_drafting(job, unit.topic_id, [Step(["d1", "d2"], list(nuggets))], [], cuts)
    return job
