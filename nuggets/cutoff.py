"""Which banks were planned and finished at a moment."""

from collections.abc import Iterator
from datetime import datetime

from assessor.exportables import Chosen, of_chosen
from assessor.labels.cutoff import Cell
from nuggets.models import BankEdition, NuggetBank

_AT_A_TIME = 500


def cells_of_banks(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A bank is in if it was finished by then."""
    banks = of_chosen(chosen, NuggetBank.objects.filter(condition=chosen.record))
    first: dict[int, datetime] = {}
    for bank, finished in BankEdition.objects.filter(bank__in=banks).order_by("-edition").values_list("bank", "at"):
        first[bank] = finished
    for pk, qid in banks.values_list("pk", "topic__qid").iterator(_AT_A_TIME):
        is_in = pk in first and first[pk] <= at
        yield Cell(qid, "", 1, int(is_in), int(pk in first and not is_in))
