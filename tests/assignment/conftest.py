"""Finished nuggets, answers of three runs, and people who assign."""

from typing import Any
from uuid import UUID

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from assignment.models import AnswerSheet, LeftOut
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from tests.assignment.lines import NOT, SUPPORT, line, nuggets
from tests.conftest import client_of
from tests.judging import give, label_all
from tests.nuggets.conftest import do, fill

A, B, C = (UUID(int=number) for number in (101, 102, 103))
# The third run answers t1 with nothing, and t2 not at all.
RUNS: dict[str, dict[str, list[str]]] = {
    "team.one": {"t1": ["Cats purr to heal.", "They also purr when content."], "t2": ["Glass is melted."]},
    "team.two": {"t1": ["Dogs bark."], "t2": ["Glass is sorted.", "It is then melted."]},
    "team.empty": {"t1": []},
}


def run_file(tag: str, answers: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return a run's lines; each sentence cites d1."""
    return [
        {
            "run_id": tag,
            "topic_id": qid,
            "topic": qid,
            "references": ["d1"],
            "response_length": len(" ".join(texts).split()),
            "answer": [{"text": text, "citations": [0]} for text in texts],
        }
        for qid, texts in answers.items()
    ]


@pytest.fixture
def answered(campaign: Campaign, import_file) -> Campaign:
    """The campaign with three runs."""
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    return campaign


@pytest.fixture
def finished(answered: Campaign, bank: NuggetBank) -> NuggetBank:
    """Anna's bank on t1, handed in: two vital nuggets and an okay one."""
    fill(bank, (A, "purring heals", "vital"), (B, "cats purr when content", "vital"), (C, "kittens purr", "okay"))
    do(bank, nugget_actions.finish_bank)
    return bank


@pytest.fixture
def nugget_ids(finished: NuggetBank) -> dict[UUID, int]:
    """The nuggets' ids by uid."""
    return {nugget.uid: nugget.pk for nugget in finished.nuggets.all()}


@pytest.fixture
def manual(finished: NuggetBank, olga: Person) -> Condition:
    """People assign the nuggets."""
    return create_manual_assign(nuggets=finished.condition, name="Manual/Manual", acting_user=olga)


@pytest.fixture
def task(manual: Condition, topic: Topic, anna: Person) -> Task:
    """Anna's task: three answers to t1, one of them empty and so done by rule."""
    return give(manual, topic, anna)


def sheet_of(task: Task, tag: str) -> AnswerSheet:
    """Return the sheet of a run's answer."""
    return AnswerSheet.objects.get(task=task, answer__run__tag=tag)


def assign(bank: NuggetBank) -> None:
    """Make one record of each model of assignment, about a bank that has a nugget and an answer."""
    nugget = bank.nuggets.order_by("pk")[0]
    condition = create_manual_assign(nuggets=bank.condition, name="Manual/Manual", acting_user=None)
    answer = Answer.objects.filter(topic=bank.topic)[0]
    sheet = AnswerSheet.objects.create(
        condition=condition, bank=bank, answer=answer, judge=bank.maker, edition=1, to_do=1
    )
    sheet.revise("label", {nugget.pk: {"label": "support"}}, judge_id=bank.maker_id)
    LeftOut.objects.create(condition=condition, nugget=nugget, is_out=True, reason="unclear")


def label_twice(task: Task, import_file: Any) -> Campaign:
    """Have Anna label all of team.one as support; a model finds two of three there, and none in team.two."""
    label_all(client_of(task.person), sheet_of(task, "team.one"), "support")
    records = [
        line("t1", "team.one", nuggets(SUPPORT, NOT, SUPPORT), text="Cats purr to heal. They also purr when content."),
        line("t1", "team.two", nuggets(NOT, NOT, NOT), text="Dogs bark."),
    ]
    by = {"condition": "Auto", "by": "model", "nuggets": task.condition.nuggets.name}
    done = import_file(task.campaign, "assignments", records, **by)
    assert done.state == "done", done.report
    return task.campaign
