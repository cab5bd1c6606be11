"""The only way to an export, for a person."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import ChoiceError, Exportable
from assessor.exports.models import Export, Frozen
from assessor.exports.selection import exportable_called


def campaign_export(campaign: Campaign, export_id: int) -> Export:
    """Return an export of a campaign that was reached through organized_campaign. Raises Http404."""
    export = campaign.exports.select_related("person", "campaign").filter(pk=export_id).first()
    if export is None:
        raise Http404("There is no such export in this campaign.")
    return export


def campaign_condition(campaign: Campaign, condition_id: int) -> Condition:
    """Return a condition of a campaign that was reached through organized_campaign. Raises Http404."""
    related = (*Condition.TOLD_WITH, "campaign", "protocol")
    condition = campaign.conditions.select_related(*related).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def frozen_version(condition: Condition, version: int) -> Frozen:
    """Return a frozen version of a condition reached through campaign_condition. Raises Http404."""
    frozen: Frozen | None = condition.frozen.filter(version=version).first()
    if frozen is None:
        raise Http404("There is no such version of this condition.")
    frozen.condition = condition
    return frozen


def named_in_address(campaign: Campaign, kind: Exportable, parts: Mapping[str, int | str]) -> dict[str, Any]:
    """Return what the address of another page's file names: a record and a topic by key, and a form. Raises Http404."""
    found: dict[str, Any] = {}
    for name, part in parts.items():
        if isinstance(part, str):
            found["form"] = part
        elif name == "topic_id":
            found["topics"] = list(campaign.topics.filter(pk=part).values_list("qid", flat=True))
            if not found["topics"]:
                raise Http404("There is no such topic in this campaign.")
        elif kind.subject:
            records = kind.subject.records(campaign).filter(pk=part)
            of = records.values_list(kind.subject.field, flat=True).first()
            if of is None:
                raise Http404(f"There is no such {kind.subject.what} in this campaign.")
            found["of"] = of
    return found


def exportable(name: str) -> Exportable:
    """Return what can be exported under this name. Raises Http404."""
    try:
        return exportable_called(name)
    except ChoiceError as error:
        raise Http404(str(error)) from error
