"""Guidelines: for those who work by them, and for organizers, who write them."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import kind_of, kinds_with_screen
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign
from assessor.work.access import own_task
from assessor.work.actions.guidelines import (
    GuidelinesError,
    change_guidelines,
    clean_text,
    in_force,
    open_guidelines,
    versions,
)
from assessor.work.guidelines import as_html, differences, first_text
from assessor.work.write_protocol import BadWrite, Stale, number, refused


@require_safe
@in_own_language_unless_organizer
def guidelines(request: PersonRequest, kind: str) -> HttpResponse:
    """The guidelines that campaigns start with for a kind of work."""
    return render(request, "work/guidelines.html", {"kind": _known(kind), "html": as_html(first_text(kind))})


@require_http_methods(["GET", "HEAD", "POST"])
@in_own_language_unless_organizer
def task_guidelines(request: PersonRequest, task_id: int) -> HttpResponse:
    """The guidelines in force for a task of one's own; a POST says that one has opened them, and goes on to the work.

    A GET records nothing: browsers fetch pages that nobody looks at.
    """
    task = own_task(request.user, task_id)
    if request.method == "POST":
        try:
            version = number(request, "version")
            open_guidelines(campaign=task.campaign, kind=task.kind, version=version, acting_user=request.user)
        except BadWrite as error:
            return refused(400, error)
        except Stale:
            told = gettext("The guidelines were changed while you read them. This is the new version.")
            messages.warning(request, told)
            return redirect("task_guidelines", task.pk)
        return redirect(kind_of(task).url(task))
    present = in_force(task.campaign, task.kind)
    before = versions(task.campaign, task.kind).filter(version=task.guidelines_version or 0).first()
    context = {
        "task": task,
        "kind": task.kind,
        "present": present,
        "html": as_html(present.text),
        "changed": differences(before.text, present.text) if before else [],
    }
    return render(request, "work/task_guidelines.html", context)


@require_safe
def campaign_guidelines(request: PersonRequest, slug: str) -> HttpResponse:
    """The guidelines of a campaign, for each kind of work."""
    campaign = organized_campaign(request.user, slug)
    context = {"campaign": campaign, "in_force": [in_force(campaign, kind.name) for kind in kinds_with_screen()]}
    return render(request, "work/campaign_guidelines.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def edit_guidelines(request: PersonRequest, slug: str, kind: str) -> HttpResponse:
    """The guidelines of a campaign for a kind of work; a POST puts another text in force.

    409: somebody else put one in force meanwhile; both are shown, and nothing is changed.
    """
    campaign = organized_campaign(request.user, slug)
    present = in_force(campaign, _known(kind))
    if request.method != "POST":
        return _edit(request, campaign, present.text, kind)
    text = request.POST.get("text", "")
    try:
        seen = number(request, "version")
        new = change_guidelines(campaign=campaign, kind=kind, text=text, seen=seen, acting_user=request.user)
    except BadWrite as error:
        return refused(400, error)
    except GuidelinesError as error:
        messages.error(request, str(error))
        return _edit(request, campaign, text, kind, status=400)
    except Stale:
        return _edit(request, campaign, clean_text(text), kind, status=409)
    if new == present:
        messages.info(request, "The text is the same, so nothing was changed.")
    else:
        messages.success(request, f"Version {new.version} is used from now on. Whoever opened an older one is told.")
    return redirect("edit_guidelines", slug, kind)


def _edit(request: PersonRequest, campaign: Campaign, text: str, kind: str, *, status: int = 200) -> HttpResponse:
    present = in_force(campaign, kind)
    context = {
        "campaign": campaign,
        "kind": kind,
        "present": present,
        "text": text,
        "html": as_html(text),
        "versions": versions(campaign, kind).defer("text"),
        "is_late": status == 409,
        "differences": differences(present.text, text) if status == 409 else [],
    }
    return render(request, "work/edit_guidelines.html", context, status=status)


@require_POST
def preview_guidelines(request: PersonRequest, slug: str, kind: str) -> HttpResponse:
    """A text as assessors would see it."""
    organized_campaign(request.user, slug)
    _known(kind)
    try:
        html = as_html(clean_text(request.POST.get("text", "")))
    except GuidelinesError as error:
        return render(request, "work/edit_guidelines.html#preview", {"refused": str(error)})
    return render(request, "work/edit_guidelines.html#preview", {"html": html})


@require_safe
@in_own_language_unless_organizer
def guidelines_version(request: PersonRequest, slug: str, kind: str, version: int) -> HttpResponse:
    """A version of the guidelines, and what it changed of the one before."""
    campaign = organized_campaign(request.user, slug)
    kept = versions(campaign, _known(kind))
    found = in_force(campaign, kind) if version == 1 and not kept else get_object_or_404(kept, version=version)
    before = kept.filter(version=version - 1).first()
    context = {
        "campaign": campaign,
        "kind": kind,
        "found": found,
        "html": as_html(found.text),
        "before": before,
        "differences": differences(before.text, found.text) if before else [],
        "opened": found.opened.select_related("person") if found.pk else [],
    }
    return render(request, "work/guidelines_version.html", context)


def _known(kind: str) -> str:
    if kind not in {known.name for known in kinds_with_screen()}:
        raise Http404("There are no guidelines of that name.")
    return kind
