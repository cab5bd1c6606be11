"""Handing a bank in, and giving it back to its maker."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.access import members
from assessor.campaigns.actions import judge_of
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Role
from assessor.work.blindness import barred_from, had_feedback, has_seen
from assessor.work.models import MAX_REASON, Task
from assessor.work.write_protocol import Result
from nuggets.actions.base import locked, store
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
    bank.state = NuggetBank.State.FINISHED
    bank.edition += 1
    bank.finished_at = timezone.now()
    store(bank, "finish", {}, judge_of(acting_user))
    BankEdition.objects.create(
        bank=bank, edition=bank.edition, version=bank.version, nuggets=nuggets, consequences=changed
    )
    if bank.task_id:
        Task.objects.filter(pk=bank.task_id).update(state=Task.State.FINISHED, total=F("done"), leased_until=None)
    for kind in condition_kinds():
        kind.on_bank_finished(bank)
    bank_finished.send(NuggetBank, bank=bank)
    told = {"edition": bank.edition, "bank": str(bank.maker), "consequences": changed}
    history.record("bank finished", bank, campaign=bank.condition.campaign, person=acting_user, **told)
    return {"version": bank.version, "finished": True}


@transaction.atomic
def reopen_bank(bank: NuggetBank, *, reason: str, acting_user: Person) -> NuggetBank:
    """Give a finished bank back to its maker, to be edited and finished again. Raises ReopenError."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > MAX_REASON or "\x00" in reason:
        raise ReopenError(f"Say why, in at most {MAX_REASON} characters: the maker will read it.")
    bank = NuggetBank.objects.select_for_update(of=("self",)).get(pk=bank.pk)
    if bank.state != NuggetBank.State.FINISHED:
        raise ReopenError(f"These {nugget_kind(bank.condition).thing}s are not finished: there is nothing to reopen.")
    if bank.task is None:
        raise ReopenError(f"Nobody works on these {nugget_kind(bank.condition).thing}s here: they came from a file.")
    campaign, person = bank.condition.campaign, bank.task.person
    if not members(campaign, Role.ASSESSOR).filter(pk=person.pk, is_active=True).exists():
        raise ReopenError(f"{person} is not an assessor of {campaign}.")
    if barred := barred_from(person, campaign):
        raise ReopenError(barred)
    if had_feedback(person, [bank.topic], bank.condition):
        raise ReopenError(f"{person} has read the feedback on {bank.topic.qid}: practice is done once.")
    if has_seen(person, [bank.topic], bank.condition):
        raise ReopenError(f"{person} has seen LLM output of this kind on {bank.topic.qid} meanwhile.")
    bank.state = NuggetBank.State.OPEN
    bank.finished_at = None
    store(bank, "reopen", {"reason": reason}, judge_of(acting_user))
    # The maker has saved nothing: who went on to another topic continues there.
    Task.objects.filter(pk=bank.task.pk).update(state=Task.State.OPEN, total=0, worked_at=bank.task.worked_at)
    history.record("bank reopened", bank, campaign=campaign, person=acting_user, reason=reason, bank=str(bank.maker))
    return bank
