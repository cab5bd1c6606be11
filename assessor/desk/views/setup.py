"""Setting a campaign up: a checklist, its files, its study."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.setup import setup_of
from assessor.desk.study_templates import choose_study, chosen_template, planned, study_templates
from assessor.desk.views.imports import files
from assessor.formats.report import quantity


@require_http_methods(["GET", "POST"])
def setup(request: PersonRequest, slug: str) -> HttpResponse:
    """The checklist with what each step needs; a study that is posted is chosen, and its conditions are made."""
    campaign = organized_campaign(request.user, slug)
    if request.method == "POST":
        if template := study_templates().get(request.POST.get("study", "")):
            made = choose_study(campaign=campaign, template=template, acting_user=request.user)
            messages.success(request, f"{template.title}: {quantity(len(made), 'conditions')} made.")
            return redirect(f"{reverse('setup', args=[slug])}#conditions-of-it")
        messages.error(request, "No study was chosen. Choose one of the cards.")
    study = chosen_template(campaign)
    parts = planned(campaign, study) if study else []
    context = files(campaign, request, "setup") | {
        "setup": setup_of(campaign),
        "templates": study_templates().values(),
        "study": study,
        "parts": parts,
        "possible": sum(not (part.condition or part.lacks or part.waits) for part in parts),
    }
    return render(request, "desk/setup.html", context)
