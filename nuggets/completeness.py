"""How many nuggets a topic has at least, by what one bank tells: its evidence, and how a model came to its list."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition
from metaeval.stats.completeness import AtLeast, chao2, not_estimated, saturation
from nuggets.condition_kind import nugget_kind
from nuggets.drafting import Step, brought_by
from nuggets.models import Drafting, Nugget, NuggetBank
from nuggets.queries import most_nuggets

_FULL = "the list is as long as it may be"


class Completeness(NamedTuple):
    """What a bank tells of nuggets that are not on it.

    by_passages: from how many passages state each nugget, of so many; unattested: nuggets without evidence, which are
    left out. by_windows: from how many nuggets of the model's list each window brought; None of banks without such.
    """

    by_passages: AtLeast
    passages: int
    unattested: int
    by_windows: AtLeast | None
    windows: list[int]


def completeness(bank: NuggetBank, listed: Sequence[Nugget], read: Collection[str]) -> Completeness:
    """Return how complete a bank with these nuggets on its list is. read: the docids of passages that its maker had.

    Nothing is estimated of a list that is as long as it may be: it has no room for what else was found.
    """
    stated = [_docids(nugget) for nugget in listed]
    passages = len(set(read).union(*stated))
    attested = [len(docids) for docids in stated if docids]
    if len(listed) >= most_nuggets(bank.condition):
        by_passages = not_estimated(len(attested), _FULL)
    elif not attested:
        by_passages = not_estimated(0, "no nugget has evidence")
    else:
        by_passages = chao2(attested, passages)
    by_windows, windows = _by_windows(bank)
    return Completeness(by_passages, passages, len(stated) - len(attested), by_windows, windows)


def _docids(nugget: Nugget) -> set[str]:
    """Return the passages that state a nugget, or answer a question."""
    gold = [one for answer in nugget.gold or [] for one in answer["references"] or []]
    return {one["docid"] for one in (*nugget.evidence, *gold)}


def _by_windows(bank: NuggetBank) -> tuple[AtLeast | None, list[int]]:
    drafting = bank.drafting
    if drafting is None or drafting.job_id is None:
        return None, []
    steps = [Step(**step) for step in drafting.steps]
    brought = Counter(brought_by(steps))
    new = [brought[number] for number in range(len(steps))]
    is_full = is_cut_short(bank.condition, drafting)
    return (not_estimated(len(drafting.nuggets), _FULL) if is_full else saturation(new)), new


def is_cut_short(condition: Condition, drafting: Drafting) -> bool:
    """Say whether the list that a model made here was cut, or is as long as it may be; of files nobody knows."""
    if drafting.job_id is None:
        return False
    protocol = condition.protocol
    most = protocol.max_drafts if nugget_kind(condition).gold is None else protocol.max_nuggets
    return bool(drafting.cuts) or len(drafting.nuggets) >= most
