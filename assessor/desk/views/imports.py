"""Files in: upload, progress, report."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db import transaction
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.accounts.models import Person
from assessor.campaigns.access import campaign_import, organized_campaign
from assessor.campaigns.http import JSON, PersonRequest, download
from assessor.campaigns.models import Campaign, Import
from assessor.desk.forms import UploadForm
from assessor.formats.report import LISTED, LISTED_OF_A_KIND, MOST_WARNINGS, write_report
from assessor.imports import importer
from assessor.imports.tasks import run_import

_SHOWN = 100


@require_http_methods(["GET", "POST"])
def imports(request: PersonRequest, slug: str) -> HttpResponse:
    """The form and the imports so far; what is uploaded goes to the background, a single file leads to its report.

    kind in the address: what the form has chosen at first. htmx asks again for the imports while one is not over.
    """
    campaign = organized_campaign(request.user, slug)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = UploadForm(*sent, initial={"kind": request.GET.get("kind")})
    if form.is_valid():
        data = form.cleaned_data
        made = [_take_in(campaign, request.user, file, data) for file in data["uploads"]]
        if len(made) == 1:
            return redirect("import_report", slug, made[0].pk)
        messages.success(request, f"{len(made)} files are imported one after the other; each has its report below.")
        return redirect("imports", slug)
    shown = list(campaign.imports.select_related("person").defer("further_warnings")[:_SHOWN])
    context = {
        "campaign": campaign,
        "form": form,
        "imports": shown,
        "is_under_way": not all(one.is_over for one in shown),
        "shown": _SHOWN,
    }
    return render(request, "desk/imports.html#imports" if request.htmx else "desk/imports.html", context)


def _take_in(campaign: Campaign, person: Person, file: "UploadedFile[Any]", data: Mapping[str, Any]) -> Import:
    """Note an uploaded file down to be imported, and hand it to the worker."""
    assert isinstance(file, TemporaryUploadedFile), "see desk.uploads"
    with transaction.atomic():
        import_record = importer.new_import(
            campaign=campaign,
            kind=data["kind"],
            file_name=file.name or "",
            options=data["options"],
            person=person,
            check_only=data["check_only"],
        )
        # On the same disk, so this takes no time while the database is locked.
        Path(file.temporary_file_path()).rename(importer.upload_path(import_record))
        # Should the queue be gone, the next start of a worker finds the import waiting in the database.
        transaction.on_commit(partial(run_import.delay, import_record.pk), robust=True)
    return import_record


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
def report_file(request: PersonRequest, slug: str, import_id: int) -> HttpResponse | FileResponse:
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
        messages.warning(request, "It was over before it could be stopped; what came of it stands below.")
    return redirect("import_report", slug, import_id)
