"""What a model made of nuggets, and what people made of that, for organizers."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition
from assessor.work.queries import minutes
from nuggets import draft_reports
from nuggets.access import organized_bank
from nuggets.condition_kind import is_inherited, nugget_kind

_TOPICS = 100  # on a page


@require_safe
def bank_drafts(request: PersonRequest, bank_id: int) -> HttpResponse:
    """The model's list behind a bank, beside the bank as it is now."""
    bank = organized_bank(request.user, bank_id)
    if bank.drafting is None:
        raise Http404("No model drafted this list.")
    kind = nugget_kind(bank.condition)
    cuts = {cut["window"]: cut["nuggets"] for cut in bank.drafting.cuts}
    tally = draft_reports.tally(bank, draft_reports.edit_counts([bank])[bank.pk]) if bank.task else None
    drafts = draft_reports.draft_rows(bank)
    context = {
        "bank": bank,
        "kind": kind,
        "has_gold": kind.gold is not None,
        "inherited": is_inherited(bank.condition),
        "campaign": bank.condition.campaign,
        "protocol": bank.condition.protocol,
        "drafts": drafts,
        "has_importance": any(row.importance for row in drafts),
        "has_windows": any(row.docids for row in drafts),
        "listed": draft_reports.listed_rows(bank),
        "windows": [(step, cuts.get(number)) for number, step in enumerate(bank.drafting.steps, start=1)],
        "tally": tally,
        "time": minutes(bank.task.seconds) if bank.task else "",
    }
    return render(request, "nuggets/bank_drafts.html", context)


@require_safe
def condition_drafts(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """What a model made under a condition, topic by topic, with how people dealt with it."""
    campaign = organized_campaign(request.user, slug)
    condition = _drafted_condition(campaign, condition_id)
    page = Paginator(draft_reports.draftings(condition), _TOPICS).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "condition": condition,
        "page": page,
        "rows": [
            (row, minutes(row.tally.seconds) if row.tally else "") for row in draft_reports.topic_rows(list(page))
        ],
        "fates": draft_reports.FATES,
        "kind": nugget_kind(condition),
        "edited_by_people": condition.edits_drafts,
    }
    return render(request, "nuggets/condition_drafts.html", context)


def _drafted_condition(campaign: Campaign, condition_id: int) -> Condition:
    condition = campaign.conditions.select_related("judge", "protocol", "manual_setup").filter(pk=condition_id).first()
    if condition is None or not condition.is_drafted:
        raise Http404("There is no such condition with a model's lists in this campaign.")
    return condition
