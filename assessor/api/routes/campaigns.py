"""Campaigns and their conditions."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from assessor.api.authentication import asker
from assessor.api.operations import many, one
from assessor.api.pagination import Asked, Text, answer, as_json, of_records
from assessor.api.schemas import CampaignItem, CampaignTold, ConditionItem, Kinds
from assessor.campaigns.access import organized_campaign, organized_campaigns
from assessor.campaigns.models import Campaign, Condition, Protocol

router = Router()


class ConditionsAsked(Asked):
    kind: Kinds | None = None


@many(router, "/campaigns", "list_campaigns", CampaignItem, "campaigns")
def list_campaigns(request: HttpRequest, asked: Query[Asked]) -> HttpResponseBase:
    """The campaigns that you organize now."""
    return answer(request, asked, of_records(organized_campaigns(asker(request)), _campaign))


@one(router, "/campaigns/{slug}", "get_campaign", CampaignTold, "campaigns")
def get_campaign(request: HttpRequest, slug: Text) -> HttpResponseBase:
    """A campaign, with the protocol in force."""
    campaign = organized_campaign(asker(request), slug)
    protocol = campaign.protocol
    settings = {"version": protocol.version} | {name: getattr(protocol, name) for name in Protocol.SETTINGS}
    return as_json(_campaign(campaign) | {"protocol": settings})


def _campaign(campaign: Campaign) -> dict[str, Any]:
    return {"slug": campaign.slug, "name": campaign.name, "created_at": campaign.created_at.isoformat()}


@many(router, "/campaigns/{slug}/conditions", "list_conditions", ConditionItem, "campaigns")
def list_conditions(request: HttpRequest, slug: Text, asked: Query[ConditionsAsked]) -> HttpResponseBase:
    """The conditions under which nuggets, labels and grades are made."""
    campaign = organized_campaign(asker(request), slug)
    conditions = campaign.conditions.select_related(*Condition.TOLD_WITH, "protocol")
    if asked.kind:
        conditions = conditions.filter(kind=asked.kind)
    return answer(request, asked, of_records(conditions, _condition))


def _condition(condition: Condition) -> dict[str, Any]:
    named = {
        name: str(record) if (record := getattr(condition, name)) else None
        for name in ("judge", "nuggets", "preferences", "qrels_source", "shown")
    }
    return {
        "id": condition.pk,
        "name": condition.name,
        "name_for_assessors": condition.name_for_assessors,
        "kind": condition.kind,
        "method": condition.method,
        "identity": condition.identity,
        **named,
        "is_a_models": condition.is_a_models,
        "is_rehearsal": condition.is_rehearsed,
        "prompts": condition.prompts,
        "replicate": condition.replicate,
        "sample": condition.sample,
        "protocol": str(condition.protocol),
        "created_at": condition.created_at.isoformat(),
    }
