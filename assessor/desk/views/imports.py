"""Files in: upload, progress, report."""

from pathlib import Path

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.collection import importing
from assessor.collection.access import campaign_import, organized_campaign
from assessor.collection.http import PersonRequest
from assessor.collection.tasks import run_import
from assessor.desk.forms import UploadForm

_SHOWN = 100


@require_http_methods(["GET", "POST"])
def imports(request: PersonRequest, slug: str) -> HttpResponse:
    """The form and the imports so far; an upload goes to the background and leads to its report."""
    campaign = organized_campaign(request.user, slug)
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        with transaction.atomic():
            import_record = importing.new_import(
                campaign=campaign,
                kind=data["kind"],
                file_name=data["file"].name,
                options=data["options"],
                person=request.user,
                check_only=data["check_only"],
            )
            # On the same disk, so this takes no time while the database is locked.
            Path(data["file"].temporary_file_path()).rename(importing.upload_path(import_record))
            # Should the queue be gone, the next start of a worker finds the import waiting in the database.
            transaction.on_commit(lambda: run_import.delay(import_record.pk), robust=True)
        return redirect("import_report", slug, import_record.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "imports": campaign.imports.select_related("person")[:_SHOWN],
        "shown": _SHOWN,
    }
    return render(request, "desk/imports.html", context)


@require_safe
def import_report(request: PersonRequest, slug: str, import_id: int) -> HttpResponse:
    """Progress while it runs (htmx asks again each second), then the report."""
    campaign = organized_campaign(request.user, slug)
    import_record = campaign_import(campaign, import_id)
    template = "desk/import_report.html#report" if request.htmx else "desk/import_report.html"
    return render(request, template, {"campaign": campaign, "import": import_record})


@require_POST
def stop_import(request: PersonRequest, slug: str, import_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    import_record = campaign_import(campaign, import_id)
    if importing.stop(import_record, person=request.user):
        messages.success(request, "Stopped. Nothing of the file was imported.")
    else:
        messages.warning(request, "It was over before it could be stopped; what came of it stands below.")
    return redirect("import_report", slug, import_id)
