"""Four runs that answer five topics, and models that compare their answers."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition
from assessor.llm import runner
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from tests.conftest import Importer
from tests.preference.replay import Answer, Replay

TOPICS = ("leaf", "cloud", "bee", "earthworms", "hibernation")
RUNS = ("run1", "run2", "run3", "run4")
_SHOWN = re.compile(r"Passage 1:\n(.*?)\n\nPassage 2:\n(.*?)\n\nReply", re.DOTALL)
_NAMED = re.compile(r"Run (\d) tells of (\w+)\.")


def text_of(run: str, topic: str) -> str:
    return f"Run {run[-1]} tells of {topic}."


def answer_line(run: str, topic: str, text: str) -> dict[str, Any]:
    return {
        "metadata": {"team_id": "team", "run_id": run, "topic_id": topic},
        "responses": [{"text": text, "citations": []}] if text else [],
        "references": [],
    }


def comparison(one: str, other: str, topic: str, better: int, **further: Any) -> dict[str, Any]:
    """Return a line of a file of preferences."""
    return {
        "_type": "comparison",
        "run_id": one,
        "run_id2": other,
        "query_id": topic,
        "passage_1": text_of(one, topic),
        "passage_2": text_of(other, topic),
        "better_passage": better,
        **further,
    }


def shown(message: str) -> tuple[str, str, str]:
    """Return what a request compares: topic, and the numbers of the runs, in the order in which they are shown."""
    found = _SHOWN.search(message)
    assert found, message
    (one, topic), (other, _) = (_NAMED.fullmatch(text).groups() for text in found.groups())  # type: ignore[union-attr]
    return topic, one, other


def smaller_run(message: str) -> str:
    """Prefer the run with the smaller number."""
    _, one, other = shown(message)
    return "1" if one < other else "2"


@pytest.fixture
def runs(empty_campaign: Campaign, import_file: Importer) -> Campaign:
    """The campaign with five topics and four runs."""
    topics = [
        {"request_id": qid, "title": f"about {qid}", "problem_statement": f"Why {qid}?", "background": "For a child."}
        for qid in TOPICS
    ]
    assert import_file(empty_campaign, "topics", topics).state == "done"
    for run in RUNS:
        lines = [answer_line(run, qid, text_of(run, qid)) for qid in TOPICS]
        done = import_file(empty_campaign, "runs", lines, name=run)
        assert done.state == "done", done.report
    return empty_campaign


@pytest.fixture
def compared(runs: Campaign, import_file: Importer) -> Condition:
    """A model's preferences between all runs, from a file: the smaller number is better."""
    pairs = [(one, other) for one in RUNS for other in RUNS if one < other]
    lines = [comparison(one, other, qid, 1) for qid in TOPICS for one, other in pairs]
    done = import_file(runs, "preferences", lines, condition="Imported", by="model")
    assert done.state == "done", done.report
    return runs.conditions.get(name="Imported")


@pytest.fixture
def one_order(runs: Campaign, olga: Person) -> Campaign:
    """As the published runs asked: one order, and no ties."""
    change_protocol(campaign=runs, settings={"preference_orders": "one"}, acting_user=olga)
    runs.refresh_from_db()
    return runs


@pytest.fixture
def replay() -> Iterator[Callable[[Answer], Replay]]:
    """Start endpoints that answer as a function says. All end with the test."""
    running: list[Replay] = []

    def start(answer: Answer) -> Replay:
        running.append(Replay(answer))
        return running[-1]

    yield start
    for each in running:
        each.close()


def done(judge: ModelJudge, kind: str = "PrefJudge", name: str = "", **options: Any) -> Job:
    """Return a job over all topics, done in this process."""
    topics = list(judge.campaign.topics.order_by("qid"))
    options.setdefault("qrels_source", None)
    plan = plan_job(kind=job_kind_named(kind), judge=judge, name=name, topics=topics, **options)
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    job.refresh_from_db()
    return job
