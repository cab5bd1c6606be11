"""Conditions under which people write nuggets, and banks for them to fill or, from drafts, to edit."""

import secrets
from uuid import uuid4

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_condition, judge_of
from assessor.campaigns.models import Campaign, Condition, Protocol, QrelsSource
from assessor.work.models import Task
from nuggets.actions.base import store
from nuggets.condition_kind import NUGGETS, Nuggets, is_inherited, nugget_kind
from nuggets.drafting import shuffled
from nuggets.models import Drafting, Nugget, NuggetBank


def create_manual_nuggets(
    *,
    campaign: Campaign,
    name: str,
    qrels_source: QrelsSource,
    min_relevant_grade: int | None = None,
    kind: Nuggets = NUGGETS,
    acting_user: Person | None,
) -> Condition:
    """Make a condition in which people write nuggets of a kind. Raises ConditionError.

    min_relevant_grade: the lowest grade with which a passage is shown; without one, the protocol's.
    """
    condition = Condition(
        campaign=campaign,
        name=name,
        kind=kind.name,
        method=kind.blind_method,
        qrels_source=qrels_source,
        min_relevant_grade=min_relevant_grade,
    )
    return create_condition(condition, acting_user=acting_user)


def prepare_bank(task: Task) -> None:
    """Make the bank that a task's person will fill: empty, or with what was drafted or inherited on the topic."""
    bank = NuggetBank.objects.create(topic=task.topic, condition=task.condition, maker=judge_of(task.person), task=task)
    if task.condition.edits_drafts:
        _put_drafts(bank)
        # The person has saved nothing yet: who works on another topic continues there.
        Task.objects.filter(pk=task.pk).update(worked_at=None)


def _put_drafts(bank: NuggetBank) -> None:
    """Put the drafts on the list, without importance, and in an order that tells nothing of it."""
    drafting = Drafting.objects.select_related("judge").get(condition=bank.condition, topic=bank.topic)
    texts = drafting.nuggets
    order = list(range(1, len(texts) + 1))
    if bank.condition.protocol.draft_order == Protocol.DraftOrder.SHUFFLED:
        bank.draft_seed = secrets.randbits(32)
        order = shuffled(len(texts), bank.draft_seed)
    bank.drafting = drafting
    gold = nugget_kind(bank.condition).gold
    origin = Nugget.Origin.INHERITED if is_inherited(bank.condition) else Nugget.Origin.DRAFTED
    # They are written in the order in which they are shown, so that not even their keys tell the model's.
    nuggets = Nugget.objects.bulk_create(
        Nugget(
            bank=bank,
            uid=uuid4(),
            text=texts[place - 1],
            origin=origin,
            draft=place,
            is_undecided=True,
            gold=gold,
            made_by=drafting.judge,
        )
        for place in order
    )
    bank.order = [nugget.name for nugget in nuggets]
    store(bank, "drafts", {"order": [[], bank.order]}, drafting.judge)
