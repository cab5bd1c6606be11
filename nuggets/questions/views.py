"""What the nugget editor writes where nuggets are questions."""

from typing import Any
from uuid import UUID

from assessor.campaigns.http import PersonRequest
from assessor.work.write_protocol import BadWrite, Result
from nuggets.models import NuggetBank
from nuggets.questions import actions
from nuggets.views.editor import evidence_of, write


@write
def gold_add(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.add_gold(bank, uid=uid, text=request.POST.get("text", ""), **by)


@write
def gold_reword(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.reword_gold(bank, uid=uid, gold=_gold(request), text=request.POST.get("text", ""), **by)


@write
def gold_remove(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.remove_gold(bank, uid=uid, gold=_gold(request), **by)


@write
def gold_cite(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.cite_gold(bank, uid=uid, gold=_gold(request), evidence=evidence_of(request), **by)


@write
def gold_uncite(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.uncite_gold(bank, uid=uid, gold=_gold(request), evidence=evidence_of(request), **by)


@write
def aggregate(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.aggregate(bank, uid=uid, aggregator=request.POST.get("aggregator", ""), **by)


@write
def nest(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    deeper = request.POST.get("deeper", "")
    if deeper not in ("0", "1"):
        raise BadWrite("deeper must be 0 or 1.")
    return actions.nest(bank, uid=uid, is_deeper=deeper == "1", **by)


def _gold(request: PersonRequest) -> str:
    return request.POST.get("gold", "")
