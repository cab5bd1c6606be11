"""What a model made: its list, and the bank of it unless people edit it. In the transaction of the job's unit."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.utils import timezone

from assessor.llm.models import Job
from nuggets.drafting import Cut, Step, ranked
from nuggets.editions import snapshot
from nuggets.models import BankEdition, Drafting, Nugget, NuggetBank

Gold = list[dict[str, Any]]


def store_drafting(
    job: Job,
    topic_id: int,
    steps: Sequence[Step],
    importance: Sequence[Sequence[str]],
    cuts: Sequence[Cut] = (),
    gold: Gold | None = None,
) -> Drafting:
    """Keep how a model came to its nuggets of a topic; where people do not edit them they make a finished bank.

    gold: the gold answers of each nugget, where they are questions.
    """
    drafting: Drafting = Drafting.objects.create(
        condition=job.condition,
        topic_id=topic_id,
        judge=job.judge.judge,
        job=job,
        steps=[step.as_json() for step in steps],
        importance=importance,
        cuts=[cut._asdict() for cut in cuts],
    )
    if not job.condition.is_by_people:
        _make_bank(drafting, gold)
    return drafting


def _make_bank(drafting: Drafting, gold: Gold | None) -> NuggetBank:
    """Make the bank of a model's best nuggets: its first edition is as they came."""
    bank = NuggetBank.objects.create(
        topic_id=drafting.topic_id,
        condition=drafting.condition,
        maker=drafting.judge,
        drafting=drafting,
        state=NuggetBank.State.FINISHED,
        edition=1,
        finished_at=timezone.now(),
    )
    votes = drafting.votes
    kept = ranked(drafting.nuggets, drafting.labels, drafting.condition.protocol.max_nuggets)
    nuggets = Nugget.objects.bulk_create(
        Nugget(
            bank=bank,
            uid=uuid4(),
            text=nugget.text,
            importance=nugget.importance,
            origin=Nugget.Origin.DRAFTED,
            draft=nugget.place,
            extras={"votes": votes[nugget.place - 1]} if votes else {},
            gold=gold,
            made_by=drafting.judge,
        )
        for nugget in kept
    )
    bank.order = [nugget.name for nugget in nuggets]
    bank.save(update_fields=["order"])
    BankEdition.objects.create(bank=bank, edition=bank.edition, version=bank.version, nuggets=snapshot(nuggets))
    return bank
