"""People who compare answers, and what their browsers send."""

from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.test import Client

from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.models import ManualSetup
from assessor.preference.actions import create_preference
from assessor.preference.models import PreferencePair
from assessor.preference.verdicts import of_answers
from assessor.work.models import Task

# Two answers of each topic to be compared with one another, of which the third equals the second.
RUNS = {
    "team.one": {"t1": "Cats purr to heal.", "t2": "Glass is melted."},
    "team.three": {"t1": "Cats purr when content."},
    "team.two": {"t1": "Cats purr when content.", "t2": "Glass is old."},
}


def load_runs(campaign: Campaign, import_file: Any) -> None:
    for tag, answers in RUNS.items():
        load_run(campaign, import_file, tag, answers)


def load_run(campaign: Campaign, import_file: Any, tag: str, answers: dict[str, str]) -> None:
    lines = [
        {
            "run_id": tag,
            "topic_id": qid,
            "topic": qid,
            "references": [],
            "answer": [{"text": text, "citations": []}] if text else [],
        }
        for qid, text in answers.items()
    ]
    done = import_file(campaign, "runs", lines, name=tag)
    assert done.state == "done", done.report


def allow_ties(campaign: Campaign) -> None:
    change_protocol(campaign=campaign, settings={"preference_ties": True}, acting_user=None)
    campaign.refresh_from_db()


def condition(campaign: Campaign, name: str = "People") -> Condition:
    return with_seed(create_preference(campaign=campaign, name=name, acting_user=None))


def with_seed(condition: Condition) -> Condition:
    """Have what is drawn under a condition drawn by a seed that is always the same."""
    ManualSetup.objects.filter(condition=condition).update(seed=7)
    return condition


def pairs_of(task: Task) -> list[PreferencePair]:
    """Return the pairs of a task, in the order in which they are asked."""
    return list(PreferencePair.objects.filter(task=task).order_by("position"))


def shown(pair: PreferencePair, value: str) -> str:
    """Return a preference between a pair's answers in terms of what is shown, as a browser sends it."""
    return of_answers(value, second_stood_first=pair.second_stood_first)


def send(
    client: Client,
    pair: PreferencePair,
    verb: str,
    *,
    key: object = None,
    version: object = None,
    task: int | None = None,
    **fields: object,
) -> HttpResponse:
    """Send a write as the browser does: with a new key, and the present version, where none is given."""
    if version is None:
        version = PreferencePair.objects.get(pk=pair.pk).version
    sent = {"key": key or uuid4(), "version": version, "pair": pair.item, **fields}
    address = f"/compare/{task or pair.task_id}/answers/{pair.pk}/{verb}/"
    return client.post(address, {name: str(value) for name, value in sent.items()}, headers={"X-Assay-Write": "1"})


def sign_off(client: Client, task: Task, *, key: object = None, version: object = None) -> HttpResponse:
    """Sign a topic off as the browser does: the version is the sum of those of the pairs."""
    if version is None:
        version = sum(pair.version for pair in pairs_of(task))
    return client.post(f"/compare/{task.pk}/sign-off/", {"key": str(key or uuid4()), "version": str(version)})
