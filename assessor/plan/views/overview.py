"""The plan as a whole: its hours, and topics that are drawn for conditions and people."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.plan import allocation_preview
from assessor.plan.actions import allot_topics
from assessor.plan.forms import AllocateForm
from assessor.plan.random_allocation import AllocationError
from assessor.plan.views.plan import hours_shown, sent_again
from assessor.plan.workload import workload
from assessor.work.actions import PlanError
from assessor.work.allocation import new_seed


@require_safe
def hours(request: PersonRequest, slug: str) -> HttpResponse:
    """How long the open and planned work will take, by person and in all."""
    campaign = organized_campaign(request.user, slug)
    context = {"campaign": campaign, **hours_shown(campaign, workload(campaign))}
    return render(request, "plan/hours.html", context)


@require_http_methods(["GET", "POST"])
def allocate(request: PersonRequest, slug: str) -> HttpResponse:
    """Topics of which nothing is planned, drawn for conditions and people; shown first, then planned."""
    campaign = organized_campaign(request.user, slug)
    form = AllocateForm(campaign, allocation_preview.seconds(campaign), request.POST or None)
    proposal, seed = None, None
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        seed = new_seed() if asked["seed"] is None else asked["seed"]
        wished = allocation_preview.Wished(
            asked["shares"],
            list(asked["people"]),
            asked["support"],
            asked["rule"],
            asked["second"],
            asked["overlap"] or 0,
            seed,
        )
        try:
            proposal = allocation_preview.propose(campaign, wished)
            is_as_shown = request.POST.get("drawn") == proposal.digest
            if "confirmed" in request.POST and not is_as_shown:
                messages.warning(request, "The plan changed after you drew. Check the new draw below.")
            elif "confirmed" in request.POST:
                allot_topics(
                    campaign=campaign,
                    allotments=proposal.allotments,
                    drawn=wished.told(),
                    acting_user=request.user,
                )
                planned = len(proposal.allotments)
                messages.success(request, f"Drawn with seed {seed}: {planned} pieces of work are being given.")
                return redirect("plan", slug)
        except (AllocationError, PlanError) as error:
            form.add_error(None, str(error))
            proposal = None
    context = {
        "campaign": campaign,
        "form": form,
        "free": len(allocation_preview.free_topics(campaign)),
        "proposal": proposal,
        "seed": seed,
        "sent": sent_again(request, without=("seed", "confirmed", "drawn")),
    }
    return render(request, "plan/allocate.html", context)
