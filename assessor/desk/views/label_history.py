"""How a label came to be."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import names_of_answers
from assessor.campaigns.http import PersonRequest
from assessor.desk.label_history import label_history_of
from assessor.labels.label_kind import label_kind

_RELATED = ["condition__campaign", "condition__protocol", "condition__created_by", "answer__run", "judge"]
_RELATED += [f"{path}import_record__campaign" for path in ("answer__topic__", "answer__", "")]
_RELATED += [f"{path}import_record__person" for path in ("answer__topic__", "answer__", "")]


@require_safe
def way(request: PersonRequest, slug: str, kind: str, sheet_id: int, item: str) -> HttpResponse:
    """The way of the label of an item of a sheet; for the campaign's organizers alone."""
    campaign = organized_campaign(request.user, slug)
    if kind not in names_of_answers():
        raise Http404("There are no labels of that kind.")
    labels = label_kind(kind)
    of_kind = labels.sheets.in_or_out.filter(condition__campaign=campaign, condition__kind=kind)
    sheet: Any = of_kind.filter(pk=sheet_id).select_related(*_RELATED).first()
    if sheet is None or not labels.has_item(sheet, item):
        raise Http404("There is no such label in this campaign.")
    context = {"campaign": campaign, "sheet": sheet, "way": label_history_of(sheet, item)}
    return render(request, "desk/label_history.html", context)
