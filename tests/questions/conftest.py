"""Anna's bank of questions, and sending writes on it as the browser does."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.work.actions import give_tasks
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from nuggets.questions.condition_kind import QUESTIONS
from tests.conftest import client_of

A, B, C, D = (UUID(int=number) for number in (10, 11, 12, 13))
OF_BANK = ("add", "merge", "reading", "read", "undo", "redo", "finish", "editor")


@pytest.fixture
def as_anna(anna: Person) -> Client:
    return client_of(anna)


@pytest.fixture
def manual_questions(campaign: Campaign, olga: Person) -> Condition:
    source = campaign.qrels_sources.get(name="NIST")
    return create_manual_nuggets(
        campaign=campaign, name="ManualQuestions", qrels_source=source, kind=QUESTIONS, acting_user=olga
    )


@pytest.fixture
def bank(manual_questions: Condition, anna: Person, olga: Person) -> NuggetBank:
    """Anna's empty bank of questions on t1."""
    topic = manual_questions.campaign.topics.get(qid="t1")
    [task] = give_tasks(
        campaign=manual_questions.campaign, topics=[topic], condition=manual_questions, person=anna, acting_user=olga
    )
    return NuggetBank.objects.get(task=task)


def address(bank: NuggetBank, verb: str, on: UUID = A) -> str:
    return reverse(f"nugget_{verb}", args=[bank.pk] if verb in OF_BANK else [bank.pk, on])


def send(
    client: Client,
    bank: NuggetBank,
    verb: str,
    *,
    on: UUID = A,
    key: object = None,
    version: object = None,
    **fields: object,
) -> HttpResponse:
    """Send a write with a new key, and the bank's present version, where none is given."""
    if version is None:
        version = NuggetBank.objects.get(pk=bank.pk).version
    data = {"key": str(key or uuid4()), "version": str(version), **fields}
    return client.post(address(bank, verb, on), data, headers={"X-Assay-Write": "1"})


def done(client: Client, bank: NuggetBank, verb: str, **fields: Any) -> list[dict[str, Any]]:
    """Send a write that is saved; return the questions in its answer."""
    response = send(client, bank, verb, **fields)
    assert response.status_code == 200, response.content.decode()
    nuggets: list[dict[str, Any]] = json.loads(response.content)["nuggets"]
    return nuggets


def ask(client: Client, bank: NuggetBank, uid: UUID, text: str, *gold: str, importance: str = "vital") -> None:
    """Add a question with its gold answers."""
    done(client, bank, "add", uid=str(uid), text=text, importance=importance)
    for answer in gold:
        done(client, bank, "gold_add", on=uid, text=answer)


@pytest.fixture
def asked(bank: NuggetBank, as_anna: Client) -> NuggetBank:
    """The bank with two questions: A with two gold answers, of which the first has a reference, and B with none."""
    ask(as_anna, bank, A, "Why do cats purr?", "contentment", "pain")
    ask(as_anna, bank, B, "How loud is it?")
    done(as_anna, bank, "gold_cite", gold="g1", docid="d1", start="0", end="23")
    return bank
