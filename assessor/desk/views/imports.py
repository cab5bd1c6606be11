"""Files in: upload, progress, report."""

from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import campaign_import, organized_campaign
from assessor.campaigns.http import JSON, PersonRequest, download
from assessor.campaigns.models import Campaign, Import
from assessor.desk.import_forms import DropForm, held_files
from assessor.formats.beginning import read_beginning
from assessor.formats.report import LISTED, LISTED_OF_A_KIND, MOST_WARNINGS, write_report
from assessor.imports import importer
from assessor.imports.forms import FileForm
from assessor.imports.importer import hand_over
from assessor.imports.loaders import LOADERS, recognise
from assessor.imports.unzip import ZipRefused, is_zip, unpack

_SHOWN = 100


class _Incoming(NamedTuple):
    """A file that was uploaded, or was in a zip. is_complete: nothing has to be asked before its import."""

    name: str
    path: Path
    kind: str
    options: dict[str, str]
    is_complete: bool


def files(campaign: Campaign, request: PersonRequest, page: str, **more: Any) -> dict[str, Any]:
    """Return what desk/_files.html shows: the drop zone, files that wait for the organizer, and imports so far.

    page: the name of its address.
    """
    imports = campaign.imports.exclude(state=Import.State.HELD).select_related("person").defer("further_warnings")
    shown = list(imports[:_SHOWN])
    return {
        "campaign": campaign,
        "page": page,
        "drop": DropForm(initial={"kind": request.GET.get("kind")}),
        "held": held_files(campaign, request.GET),
        "imports": shown,
        "under_way": sum(one.is_under_way for one in shown),
        "has_topics": campaign.topics.exists(),
        "shown": _SHOWN,
        "most_files": settings.DATA_UPLOAD_MAX_NUMBER_FILES,
    } | more


@require_http_methods(["GET", "POST"])
def imports(request: PersonRequest, slug: str) -> HttpResponse:
    """The files so far, and more by the drop zone, which the page "setup" has too. kind: chosen there at first."""
    campaign = organized_campaign(request.user, slug)
    if request.method == "GET":
        return _page(request, campaign)
    form = DropForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, campaign, drop=form)
    made = _take_in(campaign, request, form)
    if form.errors:  # of a zip; the other files are in
        return _page(request, campaign, drop=form)
    page = _page_of(request)
    if len(made) == 1 and made[0].is_under_way and page == "imports" and not request.htmx:
        return redirect("import_report", slug, made[0].pk)
    return redirect(page, slug)


def _page(request: PersonRequest, campaign: Campaign, **more: Any) -> HttpResponse:
    return render(request, "desk/imports.html", files(campaign, request, _page_of(request), **more))


def _page_of(request: PersonRequest) -> str:
    """Return the name of the page whose drop zone was used."""
    return "setup" if request.POST.get("page") == "setup" else "imports"


def _take_in(campaign: Campaign, request: PersonRequest, form: DropForm) -> list[Import]:
    """Note uploaded files down, those of a zip each, and hand to the worker what needs no more from a person."""
    found: list[tuple[str, Path]] = []
    for file in form.cleaned_data["uploads"]:
        assert isinstance(file, TemporaryUploadedFile), "see assessor.imports.uploads"
        name, path = file.name or "", Path(file.temporary_file_path())
        try:
            found += unpack(path) if is_zip(name) else [(name, path)]
        except ZipRefused as refused:
            form.add_error("uploads", f"{name} was not taken: {refused}. Nothing of it was kept.")
    incoming = [_look_at(name, path, form.cleaned_data.get("kind", ""), request) for name, path in found]
    uploads = [importer.keep(one.path) for one in incoming]
    with transaction.atomic():
        made = []
        for one, upload in zip(incoming, uploads, strict=True):
            import_record = importer.take_in(
                upload,
                campaign=campaign,
                kind=one.kind,
                file_name=one.name,
                options=one.options,
                person=request.user,
                check_only=form.cleaned_data["check_only"],
                is_held=not one.is_complete,
            )
            made.append(import_record)
        hand_over(made)
    return made


def _look_at(name: str, path: Path, kind: str, request: PersonRequest) -> _Incoming:
    """Find out what a file holds, where no kind was said, and whether what its kind needs came with the form."""
    beginning = read_beginning(path)
    loader = LOADERS.get(kind) or recognise(beginning)
    if loader is None:
        return _Incoming(name, path, "", {}, is_complete=False)
    sent = {field: request.POST[field] for field in loader.asks if field in request.POST}
    form = FileForm(sent | {"kind": loader.kind})
    is_complete = form.is_valid() and (bool(sent) or not loader.asks_first(beginning))
    return _Incoming(name, path, loader.kind, form.cleaned_data["options"] if is_complete else {}, is_complete)


@require_POST
def import_held(request: PersonRequest, slug: str) -> HttpResponse:
    """Import the held files of which all is said now; the others are still held, and the page says what they lack."""
    campaign = organized_campaign(request.user, slug)
    held = held_files(campaign, request.POST, is_sent=True)
    complete = [one for one in held if one.is_valid()]
    with transaction.atomic():
        for one in complete:
            importer.release(one.import_record, kind=one.cleaned_data["kind"], options=one.cleaned_data["options"])
            one.import_record.refresh_from_db()
        hand_over([one.import_record for one in complete])
    if len(complete) < len(held):
        return _page(request, campaign, held=[one for one in held if one not in complete])
    return redirect(_page_of(request), slug)


@require_safe
def import_report(request: PersonRequest, slug: str, import_id: int) -> HttpResponse:
    """Progress while it runs (htmx asks again each second), then the report."""
    campaign = organized_campaign(request.user, slug)
    import_record = campaign_import(campaign, import_id)
    template = "desk/import_report.html#report" if request.htmx else "desk/import_report.html"
    context = {
        "campaign": campaign,
        "import": import_record,
        "listed": f":{LISTED_OF_A_KIND}",
        "most_errors": LISTED,
        "most_warnings": MOST_WARNINGS,
    }
    return render(request, template, context)


@require_safe
def report_file(request: PersonRequest, slug: str, import_id: int) -> HttpResponse | StreamingHttpResponse:
    """The report with all warnings that are listed in it, of which the page has the first."""
    campaign = organized_campaign(request.user, slug)
    import_record = campaign_import(campaign, import_id)
    content = write_report(import_record.report, import_record.further_warnings)
    return download(f"{import_record.file_name}-report.json", content, JSON)


@require_POST
def stop_import(request: PersonRequest, slug: str, import_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    import_record = campaign_import(campaign, import_id)
    if importer.stop(import_record, person=request.user):
        messages.success(request, "Stopped. Nothing of the file was imported.")
    else:
        messages.warning(request, "It was over before it could be stopped; its report is below.")
    if "page" in request.POST:
        return redirect(_page_of(request), slug)
    return redirect("import_report", slug, import_id)
