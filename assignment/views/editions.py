"""A bank that was inherited from a former edition: what changed, and both editions by what both have."""

from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.work.exposure import see
from assignment.editions import (
    MEASURES,
    FormerError,
    edition_conditions,
    edition_scores,
    linked,
    read_former,
)
from assignment.forms import FormerEditionForm
from nuggets.inheritance import CHANGES, inherited_conditions, topic_differences, total


@require_http_methods(["GET", "POST"])
def editions(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """What people made of a former edition's nuggets, and this one's scores by those kept.

    ?topic=: lists one topic. A POST brings the former edition's assignments, which are read and not kept.
    """
    campaign = organized_campaign(request.user, slug)
    condition = inherited_conditions(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition with nuggets of a former edition in this campaign.")
    topics = topic_differences(condition)
    shown = next((one for one in topics if one.topic.qid == request.GET.get("topic")), None)
    if shown:
        see(request.user, shown.topic, [condition.kind], "pages of the topic")
    labelled = edition_conditions(condition)
    form = FormerEditionForm(labelled, *([request.POST, request.FILES] if request.method == "POST" else []))
    found = _link(form) if form.is_valid() else None
    counts = total(topics)
    context = {
        "campaign": campaign,
        "condition": condition,
        "options": condition.import_record.options if condition.import_record else {},
        "changes": CHANGES,
        "topics": [
            (one, [counted[change] for change in CHANGES], counted["importance"])
            for one in topics
            for counted in [one.counts]
        ],
        "counts": [(change, counts[change]) for change in CHANGES],
        "importance_changed": counts["importance"],
        "shown": shown,
        "editions": [edition_scores(one) for one in labelled],
        "measures": MEASURES,
        "form": form,
        "found": found,
    }
    return render(request, "assignment/editions.html", context)


def _link(form: FormerEditionForm) -> dict[str, Any] | None:
    """Return both editions and what links them by each measure; None where the file can't be read, as the form says."""
    upload = form.cleaned_data["upload"]
    assert isinstance(upload, TemporaryUploadedFile), "see assessor.imports.uploads"
    edition = edition_scores(form.cleaned_data["condition"])
    try:
        former = read_former(Path(upload.temporary_file_path()), upload.name or "", edition)
    except FormerError as error:
        form.add_error("upload", str(error))
        return None
    return {
        "edition": edition,
        "former": former,
        "links": list(zip(MEASURES, linked(edition, former), strict=True)),
    }
