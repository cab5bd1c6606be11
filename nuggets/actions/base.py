"""What all writers of banks share. Each is called inside work.writes.once, which is its transaction."""

from typing import Any

from django.utils import timezone

from assessor.campaigns.models import Judge
from assessor.work.models import Task
from assessor.work.write_protocol import BadWrite, Closed, Stale, sign_of_work
from nuggets.models import BankEdit, NuggetBank
from nuggets.queries import undecided_drafts

MAX_CHARACTERS = 2_000  # of a nugget, a gold answer, a note, a reading; far above any sensible one
MAX_GOLD = 100  # answers of a question


def locked_bank(bank: NuggetBank, seen: int) -> NuggetBank:
    """Return the bank as it is now, locked. Raises Closed or Stale."""
    locked = NuggetBank.objects.select_for_update(of=("self",)).get(pk=bank.pk)
    if locked.state != NuggetBank.State.OPEN:
        raise Closed
    if locked.version != seen:
        raise Stale
    locked.guidelines_version = bank.guidelines_version
    return locked


def store(
    bank: NuggetBank,
    verb: str,
    changes: dict[str, Any],
    judge: Judge,
    *,
    parent: BankEdit | None = None,
    about: BankEdit | None = None,
) -> BankEdit:
    """Add an edit to the bank's story, count the version up, save the bank, and tell the task. Raises Closed."""
    bank.version += 1
    edit: BankEdit = BankEdit.objects.create(
        bank=bank,
        version=bank.version,
        verb=verb,
        judge=judge,
        changes=changes,
        parent=parent,
        about=about,
        guidelines_version=bank.guidelines_version,
    )
    bank.save()
    if bank.task_id:
        # The task was read before the bank was locked: it may have been withdrawn since.
        task = Task.objects.filter(pk=bank.task_id).exclude(state=Task.State.WITHDRAWN)
        if not task.update(
            done=len(bank.order) - undecided_drafts(bank).count(), worked_at=timezone.now(), **sign_of_work()
        ):
            raise Closed
    return edit


def on_one_line(text: str) -> str:
    """Return a text of the editor with its blanks folded. Raises BadWrite for one that can't be kept."""
    if "\x00" in text or len(text) > MAX_CHARACTERS:
        raise BadWrite(f"A text has at most {MAX_CHARACTERS:,} characters and no NUL.")
    return " ".join(text.split())
