"""Reports, written from the page of runs."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.formats.report import quantity
from nuggets.reports.actions import ReportError, write_report
from nuggets.reports.forms import ReportForm


@require_POST
def reports(request: PersonRequest, slug: str) -> HttpResponse:
    """Write a report on each topic from what was found."""
    campaign = organized_campaign(request.user, slug)
    form = ReportForm(campaign, request.POST)
    if form.is_valid():
        try:
            written = write_report(**form.cleaned_data, acting_user=request.user)
        except ReportError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"{written.tag} was written: {quantity(written.answers, 'reports')}.")
            if written.left_out:
                messages.warning(
                    request, f"Not read to the end or not signed, and left out: {', '.join(written.left_out)}."
                )
    else:
        messages.error(request, "Choose what the reports are written from, and how many sentences a question gives.")
    return redirect("runs", slug)
