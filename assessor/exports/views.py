"""Files out: the page, files sent at once, files made in the background, manifests."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import JSON, TEXT, ZIP, PersonRequest, download
from assessor.exportables import ChoiceError, Exportable, Page
from assessor.exports import actions, queries
from assessor.exports.access import campaign_export, exportable, named_in_address
from assessor.exports.actions import hint
from assessor.exports.forms import ExportForm
from assessor.exports.models import Export
from assessor.exports.paper import ask_for_paper
from assessor.exports.selection import choose
from assessor.exports.zip_exports import zip_exports
from assessor.scores.leaderboards import Incomplete

_ASKED = ("of", "form", "policy", "allow_incomplete", "at")


@require_safe
def exports(request: PersonRequest, slug: str) -> HttpResponse:
    """All that can be exported, and what was."""
    campaign = organized_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "sections": queries.sections(campaign, request.GET.get("q", "")),
        "q": request.GET.get("q", ""),
        "unfinished": queries.unfinished(campaign),
        "exports": queries.latest(campaign),
        "days": settings.EXPORT_DAYS,
        "conditions": queries.conditions_to_freeze(campaign),
    }
    return render(request, "exports/exports.html", context)


@require_http_methods(["GET", "POST"])
def choose_export(request: PersonRequest, slug: str, kind: str) -> HttpResponse:
    """Which record, form, topics and runs; a POST has it made in the background, or leads to the file."""
    campaign = organized_campaign(request.user, slug)
    of_kind = exportable(kind)
    form = ExportForm(campaign, of_kind, request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        chosen = {name: value for name, value in form.cleaned_data.items() if value}
        if "at_once" in request.POST:
            return redirect(f"{reverse('export_file', args=[slug, kind])}?{_query(chosen)}")
        with transaction.atomic():
            export = actions.ask_for(campaign=campaign, kind=of_kind, options=chosen, acting_user=request.user)
            hint(export)
        return redirect("export", slug, export.pk)
    context = {"campaign": campaign, "kind": of_kind, "form": form, "is_large": "large" in request.GET}
    return render(request, "exports/choose.html", context)


@require_safe
def export_file(
    request: PersonRequest, slug: str, kind: str, page: Page | None = None, **parts: int | str
) -> HttpResponseBase:
    """A file, sent while it is written; one that is too large for that is to be made in the background.

    page: that which offers it at an address of its own, with these parts; none: the page of exports.
    """
    campaign = organized_campaign(request.user, slug)
    of_kind = exportable(kind)
    options = _options(request, of_kind) | named_in_address(campaign, of_kind, parts)
    try:
        chosen = choose(campaign, of_kind, options)
        if of_kind.size(chosen) > settings.EXPORT_AT_ONCE:
            return redirect(f"{reverse('choose_export', args=[slug, kind])}?{_query(options)}&large=1")
        if request.method == "HEAD":
            return HttpResponse()
        export, sent = actions.send(
            campaign=campaign, kind=of_kind, options=options, acting_user=request.user, page=page, chosen=chosen
        )
    except ChoiceError as error:
        raise Http404(str(error)) from error
    except Incomplete as error:
        form = ExportForm(campaign, of_kind, initial=options)
        context = {"campaign": campaign, "kind": of_kind, "form": form, "why": error}
        if page:  # which has no form on which that could be allowed
            context["anyway"] = _query(_options(request, of_kind) | {"allow_incomplete": "on"})
        return render(request, "exports/choose.html", context, status=409)
    return download(export.file_name if page and not page.names_campaign else _name_of(export), sent)


def _name_of(export: Export) -> str:
    """Return what browsers call a file."""
    return f"{export.campaign.slug}.{export.file_name}"


def _options(request: PersonRequest, kind: Exportable) -> dict[str, Any]:
    lists = {name: request.GET.getlist(name) for name in ("topics", "runs")}
    return {name: request.GET.get(name) for name in (*_ASKED, *kind.asked)} | lists


def _query(options: Mapping[str, Any]) -> str:
    return urlencode({name: value for name, value in options.items() if value}, doseq=True)


@require_POST
def make_release(request: PersonRequest, slug: str) -> HttpResponse:
    """Have a release made in the background: of the campaign, or of one condition."""
    campaign = organized_campaign(request.user, slug)
    name = request.POST.get("of", "")
    condition = None if not name or "\x00" in name else campaign.conditions.filter(name=name).first()
    if name and condition is None:
        raise Http404("There is no such condition in this campaign.")
    with transaction.atomic():
        export = actions.ask_for_release(campaign=campaign, condition=condition, acting_user=request.user)
        hint(export)
    return redirect("export", slug, export.pk)


@require_POST
def make_paper(request: PersonRequest, slug: str) -> HttpResponse:
    """Have all tables and figures for a paper made in the background, as one zip."""
    campaign = organized_campaign(request.user, slug)
    with transaction.atomic():
        export = ask_for_paper(campaign=campaign, acting_user=request.user)
        hint(export)
    return redirect("export", slug, export.pk)


@require_safe
def export(request: PersonRequest, slug: str, export_id: int) -> HttpResponse:
    """How far it is (htmx asks again each second), then the file and its manifest."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_export(campaign, export_id)
    template = "exports/export.html#progress" if request.htmx else "exports/export.html"
    return render(request, template, {"campaign": campaign, "export": found, "days": settings.EXPORT_DAYS})


@require_POST
def stop_export(request: PersonRequest, slug: str, export_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    found = campaign_export(campaign, export_id)
    if actions.stop(export=found, acting_user=request.user):
        messages.success(request, "Stopped. No file was made.")
    else:
        messages.warning(request, "It had ended before it could be stopped. Its result is below.")
    of_zip = zip_exports().get(found.kind)
    return redirect(of_zip.page, slug) if of_zip else redirect("export", slug, export_id)


@require_safe
def made_file(request: PersonRequest, slug: str, export_id: int) -> HttpResponseBase:
    """The file that was made in the background."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_export(campaign, export_id)
    try:
        if not found.has_file:
            raise FileNotFoundError
        file = actions.open_file(found)
    except FileNotFoundError as error:
        why = "There is no file: it was not made, or removed because it was old. Export it anew."
        raise Http404(why) from error
    if request.method != "HEAD":
        actions.take(export=found, acting_user=request.user)
    response = download(_name_of(found), file, ZIP if found.file_name.endswith(".zip") else TEXT)
    response["Content-Length"] = file.size
    return response


@require_safe
def export_manifest(request: PersonRequest, slug: str, export_id: int) -> HttpResponseBase:
    """What a file holds, of what, and its sum."""
    campaign = organized_campaign(request.user, slug)
    found: Export = campaign_export(campaign, export_id)
    if not found.manifest:
        raise Http404("There is no manifest: the file is not whole.")
    return download(f"{_name_of(found)}.manifest.json", found.manifest, JSON)
