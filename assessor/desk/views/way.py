"""How a label came to be."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.collection.access import organized_campaign
from assessor.collection.http import PersonRequest
from assessor.desk.questions import SHEETS
from assessor.desk.way import way_of

_RELATED = ["condition__campaign", "condition__protocol", "condition__created_by", "answer__run", "judge"]
_RELATED += [f"{path}import_record__campaign" for path in ("answer__topic__", "answer__", "")]
_RELATED += [f"{path}import_record__person" for path in ("answer__topic__", "answer__", "")]


@require_safe
def way(request: PersonRequest, slug: str, kind: str, sheet_id: int, item: str) -> HttpResponse:
    """The way of the label of an item of a sheet; for the campaign's organizers alone."""
    campaign = organized_campaign(request.user, slug)
    if kind not in SHEETS:
        raise Http404("There are no labels of that kind.")
    sheets = SHEETS[kind].in_or_out.filter(condition__campaign=campaign).select_related(*_RELATED)
    sheet: Any = sheets.filter(pk=sheet_id).first()
    if sheet is None or not _is_asked(sheet, item):
        raise Http404("There is no such label in this campaign.")
    context = {"campaign": campaign, "sheet": sheet, "way": way_of(sheet, item)}
    return render(request, "desk/way.html", context)


def _is_asked(sheet: Any, item: str) -> bool:
    """Say whether an item is one that the sheet is or was about."""
    if isinstance(sheet, SHEETS["support"]):
        return item in sheet.asked
    return item.isascii() and item.isdigit() and len(item) < 19 and sheet.bank.nuggets.filter(pk=int(item)).exists()
