"""A small kind of job for tests: one question a topic; what came is kept in the history, where it can be counted."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.apps import apps

from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.llm.actions import create_judge, launch, plan_job
from assessor.llm.job_kind import Ask, Expected, JobKind, UnitFailure
from assessor.llm.models import Job, ModelJudge, Unit
from assessor.llm.prompts import PromptSet
from assessor.relevance.umbrela import RELEVANCE_PROMPT

PASSAGE = "Cats purr when they are content. Glass is melted. "
PARAMETERS = {"model": "m", "temperature": 0.0, "max_tokens": 100, "limit_name": "max_tokens", "structured": False}


class Grading(JobKind):
    """Grades one passage for each topic."""

    name = "Grading"
    title = "Grade for tests"
    summary = "one passage a topic"
    counted = "Topics graded"
    condition_kind = "relevance"
    method = "UMBRELA"
    prompts = (RELEVANCE_PROMPT,)
    # Titles of topics whose result can't be stored: a mistake in a kind.
    unstorable: set[str] = set()

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, None, str]]:
        for topic in topics:
            yield topic.pk, None, ""

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        return Expected(len(topics), 1_000 * len(topics), 6 * len(topics))

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Any]:
        return {
            unit.pk: UnitFailure("nothing to grade") if unit.topic.title == "nothing" else unit.topic.title
            for unit in units
        }

    async def carry_out(self, work: str, ask: Ask) -> int:
        return await ask(RELEVANCE_PROMPT.request(ask.prompts, query=work, passage=PASSAGE))

    def store(self, job: Job, results: Sequence[tuple[Unit, Any]]) -> None:
        for unit, grade in results:
            if unit.topic.title in self.unstorable:
                raise ValueError("no room")
            history.record("graded", unit.topic, campaign=job.campaign, person=None, qid=unit.topic.qid, grade=grade)


GRADING = Grading()
# Of an app behind those with kinds: lists of prompts have the order that they have without it.
apps.get_app_config("metaeval").job_kinds = ("tests.llm.grading.Grading",)  # type: ignore[attr-defined]


def graded(campaign: Campaign) -> dict[str, int]:
    """Return the stored grades by topic id; a topic that was stored twice fails the test."""
    found: dict[str, int] = {}
    for event in Event.objects.filter(campaign=campaign, verb="graded"):
        assert event.details["qid"] not in found, "stored twice"
        found[event.details["qid"]] = event.details["grade"]
    return found


def make_judge(campaign: Campaign, url: str = "http://127.0.0.1:9/v1", name: str = "j", **settings: Any) -> ModelJudge:
    parameters = PARAMETERS | {key: settings.pop(key) for key in list(settings) if key in PARAMETERS}
    return create_judge(
        campaign=campaign,
        name=name,
        parameters=parameters,
        settings={"base_url": url} | settings,
        acting_user=None,
    )


def make_job(judge: ModelJudge, **options: Any) -> Job:
    """Launch a job over all topics of the campaign; no worker is told."""
    budget = {"most_calls": options.pop("most_calls", None), "most_cost": options.pop("most_cost", None)}
    if budget["most_cost"] is not None:
        budget["most_cost"] = Decimal(budget["most_cost"])
    topics = list(judge.campaign.topics.order_by("qid"))
    plan = plan_job(
        kind=options.pop("kind", GRADING),
        judge=judge,
        name=f"by {judge} {options.get('replicate', '')}".strip(),
        qrels_source=None,
        topics=topics,
        **options,
    )
    return launch(plan, **budget, acting_user=None, to_workers=False)
