"""How a label came to be."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.label_history import label_history_of
from assessor.labels.label_kind import label_kinds

_RELATED = ("condition__campaign", "condition__protocol", "condition__created_by", "judge")


def _related(model: Any) -> list[str]:
    """Return what is read with what is judged: its answers, and what brought them and it."""
    paths = [path for answer in model.ANSWERS for path in (f"{answer}__topic__", f"{answer}__")]
    of_imports = [f"{path}import_record__{name}" for path in (*paths, "") for name in ("campaign", "person")]
    return [*_RELATED, *(f"{answer}__run" for answer in model.ANSWERS), *of_imports]


@require_safe
def way(request: PersonRequest, slug: str, kind: str, sheet_id: int, item: str) -> HttpResponse:
    """The way of the label of an item of a sheet; for the campaign's organizers alone."""
    campaign = organized_campaign(request.user, slug)
    labels = next((one for one in label_kinds() if one.name == kind), None)
    judged = labels.with_history(campaign) if labels else None
    if labels is None or judged is None:
        raise Http404("There are no labels of that kind.")
    sheet: Any = judged.filter(pk=sheet_id).select_related(*_related(judged.model)).first()
    key = labels.item_key(sheet, item) if sheet else None
    if key is None:
        raise Http404("There is no such label in this campaign.")
    context = {"campaign": campaign, "sheet": sheet, "way": label_history_of(sheet, key)}
    return render(request, "desk/label_history.html", context)
