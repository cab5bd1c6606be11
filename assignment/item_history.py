"""What is recorded of a nugget that has a label, and what its label counts in scores."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from assessor.labels.label_history import Step, name, read, told
from assessor.studies.models import SampledItem
from assignment.models import AnswerSheet, LeftOut
from nuggets.models import BankEdit, BankEdition, Nugget
from nuggets.queries import with_keys


def item_history(sheet: AnswerSheet, item: str) -> tuple[str, Iterator[Step]]:
    """Return a nugget's text, and how it came to be what it is, by its key."""
    nugget = Nugget.objects.filter(pk=int(item)).select_related("made_by").get()
    return nugget.text, _steps(sheet, nugget)


def sampled_as(sheet: AnswerSheet, item: str) -> QuerySet[SampledItem]:
    """Return what studies drew of the answer that is this nugget, whatever it said then."""
    uid = Nugget.objects.get(pk=int(item)).name
    drawn: QuerySet[SampledItem] = SampledItem.objects.filter(answer=sheet.answer_id, item__startswith=f"{uid} ")
    return drawn


def _steps(sheet: AnswerSheet, nugget: Nugget) -> Iterator[Step]:
    yield Step(nugget.made_at, str(nugget.made_by), f"nugget {nugget.get_origin_display()}")
    uid = nugget.name
    for edit in BankEdit.objects.filter(bank=sheet.bank_id).select_related("judge").order_by("version"):
        changed = edit.changes.get("nuggets", {}).get(uid)
        before, after = edit.changes.get("order", ([], []))
        moved = (uid in before) != (uid in after)
        if changed or moved:
            list_told = ("; onto the list" if uid in after else "; off the list") if moved else ""
            yield Step(edit.at, str(edit.judge), f"{edit.verb} of the nugget{told(changed)}{list_told}{read(edit)}")
    for edition in BankEdition.objects.filter(bank=sheet.bank_id):
        found = next((one for one in edition.nuggets if one["uid"] == uid), None)
        fate = next((fate for fate, uids in edition.consequences.items() if uid in uids), "")
        here = f"“{found['text']}”, {found['importance'] or 'no importance'}" if found else "not in it"
        yield Step(edition.at, "", f"edition {edition.edition} of the bank: {here}{fate and f'; labels on it: {fate}'}")
    for one in LeftOut.objects.filter(condition=sheet.condition_id, nugget=nugget).select_related("person"):
        yield Step(one.at, name(one.person), f"{'left out of' if one.is_out else 'back in'} the scores: {one.reason}")


def counted_nugget(sheet: AnswerSheet, item: str) -> Mapping[str, Any] | None:
    """Return a nugget as the edition has it that its label is about; None where it is left out of the scores."""
    newest = LeftOut.objects.filter(condition=sheet.condition_id, nugget=int(item)).order_by("pk").last()
    editions = with_keys(BankEdition.objects.filter(bank=sheet.bank_id, edition=sheet.edition))
    is_out = newest is not None and newest.is_out
    return next((one for edition in editions for one in edition.nuggets if str(one["id"]) == item and not is_out), None)
