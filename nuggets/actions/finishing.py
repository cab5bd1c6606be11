"""Handing a bank in, and giving what was handed in back to its maker."""

from typing import Any

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.access import members
from assessor.campaigns.actions import judge_of
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Role
from assessor.work.blindness import barred_from, had_feedback, has_seen
from assessor.work.models import MAX_REASON, Task
from assessor.work.write_protocol import Result
from nuggets.actions.base import hand_in, locked, store
from nuggets.condition_kind import nugget_kind
from nuggets.editions import consequences, snapshot
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import Finding, findings, nuggets_in_order
from nuggets.signals import bank_finished


class NotReady(Exception):
    """The bank can't be handed in yet; the text says why."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))


class ReopenError(Exception):
    """The bank can't be reopened; the text says why."""


def finish_bank(bank: NuggetBank, *, acting_user: Person, seen: int) -> Result:
    """Finish a bank, which makes it read-only. Raises NotReady, with what is lacking.

    What is handed in is kept as an edition, with what it changes for labels given on the one before.
    """
    bank = locked(bank, seen)
    listed = nuggets_in_order(bank)
    if lacking := findings(bank, listed):
        raise NotReady(lacking)
    before = bank.editions.order_by("edition").last()
    nuggets = snapshot(listed)
    changed = consequences(before.nuggets, nuggets) if before else {}
    hand_in(bank, "finish", acting_user)
    BankEdition.objects.create(
        bank=bank, edition=bank.edition, version=bank.version, nuggets=nuggets, consequences=changed
    )
    for kind in condition_kinds():
        kind.on_bank_finished(bank)
    bank_finished.send(NuggetBank, bank=bank)
    told = {"edition": bank.edition, "bank": str(bank.maker), "consequences": changed}
    history.record("bank finished", bank, campaign=bank.condition.campaign, person=acting_user, **told)
    return {"version": bank.version, "finished": True}


def reopen_bank(bank: NuggetBank, *, reason: str, acting_user: Person) -> NuggetBank:
    """Give a finished bank back to its maker, to be edited and finished again. Raises ReopenError."""
    things = f"These {nugget_kind(bank.condition).thing}s"
    if bank.state == NuggetBank.State.FINISHED and bank.task is None:
        raise ReopenError(f"Nobody works on {things.lower()} here: they came from a file.")
    found: NuggetBank = reopen(bank, f"{things} are not finished", reason=reason, acting_user=acting_user)
    return found


@transaction.atomic
def reopen(edited: Any, if_open: str, *, reason: str, acting_user: Person) -> Any:
    """Give a list of somebody's task back to them, to be edited and handed in again. Raises ReopenError.

    if_open: what to say where it is not handed in.
    """
    reason = " ".join(reason.split())
    if not reason or len(reason) > MAX_REASON or "\x00" in reason:
        raise ReopenError(f"Say why, in at most {MAX_REASON} characters: the maker will read it.")
    edited = type(edited).objects.select_for_update(of=("self",)).get(pk=edited.pk)
    if edited.state != edited.State.FINISHED:
        raise ReopenError(f"{if_open}: there is nothing to reopen.")
    condition, topic, person = edited.condition, edited.topic, edited.task.person
    campaign = condition.campaign
    if not members(campaign, Role.ASSESSOR).filter(pk=person.pk, is_active=True).exists():
        raise ReopenError(f"{person} is not an assessor of {campaign}.")
    if barred := barred_from(person, campaign):
        raise ReopenError(barred)
    if had_feedback(person, [topic], condition):
        raise ReopenError(f"{person} has read the feedback on {topic.qid}: practice is done once.")
    if has_seen(person, [topic], condition):
        raise ReopenError(f"{person} has seen LLM output of this kind on {topic.qid} meanwhile.")
    edited.state = edited.State.OPEN
    edited.finished_at = None
    store(edited, "reopen", {"reason": reason}, judge_of(acting_user))
    # The maker has saved nothing: who went on to another topic continues there.
    again = {"state": Task.State.OPEN, "total": edited.count_to_do(), "worked_at": edited.task.worked_at}
    Task.objects.filter(pk=edited.task.pk).update(**again)
    told = {"reason": reason, edited.CALLED: str(judge_of(person))}
    history.record(f"{edited.CALLED} reopened", edited, campaign=campaign, person=acting_user, **told)
    return edited
