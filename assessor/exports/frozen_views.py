"""The pages of frozen conditions: what is missing, the versions, what changed since, their bundles."""

from hashlib import sha256

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import JSON, ZIP, PersonRequest, download
from assessor.exports import actions, freeze
from assessor.exports.access import campaign_condition, frozen_version
from assessor.exports.actions import hint
from assessor.exports.frozen_changes import Change, changes_since
from assessor.exports.models import Frozen
from assessor.exports.queries import conditions_to_freeze
from assessor.exports.readiness import missing
from assessor.exports.signatures import OddKey, has_key
from assessor.runtime.process_cache import cache

_AT_ONCE = 8 << 20  # bytes of frozen files that a page compares with what stands now, unasked


@require_safe
def frozen_conditions(request: PersonRequest, slug: str) -> HttpResponse:
    """All conditions, with the version that each is frozen in."""
    campaign = organized_campaign(request.user, slug)
    context = {"campaign": campaign, "conditions": conditions_to_freeze(campaign)}
    return render(request, "exports/frozen_conditions.html", context)


@require_safe
def frozen_condition(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """What keeps a condition from being frozen, its versions, and what changed since the last one."""
    campaign = organized_campaign(request.user, slug)
    condition = campaign_condition(campaign, condition_id)
    versions = list(condition.frozen.select_related("person").prefetch_related("files__blob"))
    newest = versions[0] if versions else None
    now = freeze.state(condition)
    changes = _changes(newest, now, is_asked="compare" in request.GET) if newest else None
    context = {
        "campaign": campaign,
        "condition": condition,
        "missing": missing(condition),
        "versions": versions,
        "newest": newest,
        "is_same": newest is not None and newest.state == now,
        "changes": changes,
        "changed": sum(one.added + one.removed + one.changed for one in changes or ()),
        **_about_the_key(),
    }
    return render(request, "exports/frozen_condition.html", context)


def _about_the_key() -> dict[str, object]:
    try:
        return {"has_key": has_key()}
    except OddKey as error:
        return {"has_key": False, "key_error": str(error)}


def _changes(frozen: Frozen, now: str, *, is_asked: bool) -> list[Change] | None:
    """Return what changed since a version, worked out anew where anything did; None where that takes long, unasked."""
    if frozen.state == now:
        return []
    if not is_asked and sum(file.blob.size for file in frozen.files.all()) > _AT_ONCE:
        return None
    key = f"changes.{frozen.pk}.{sha256(now.encode()).hexdigest()}"
    changes: list[Change] = cache.get_or_set(key, lambda: changes_since(frozen), timeout=None)
    return changes


@require_POST
def freeze_condition(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Have a condition frozen in the background; one that isn't finished is refused at once, with what is missing."""
    campaign = organized_campaign(request.user, slug)
    condition = campaign_condition(campaign, condition_id)
    if missing(condition):
        messages.error(request, f"{condition} is not finished: it was not frozen.")
        return redirect("frozen_condition", slug, condition_id)
    with transaction.atomic():
        export = actions.ask_to_freeze(condition=condition, acting_user=request.user)
        hint(export)
    return redirect("export", slug, export.pk)


@require_safe
def frozen_bundle(request: PersonRequest, slug: str, condition_id: int, version: int) -> HttpResponseBase:
    """A frozen version as a zip: the same bytes each time."""
    campaign = organized_campaign(request.user, slug)
    frozen = frozen_version(campaign_condition(campaign, condition_id), version)
    if request.method == "HEAD":
        return HttpResponse(content_type=ZIP)
    actions.take_frozen(frozen=frozen, acting_user=request.user)
    return download(f"{campaign.slug}.{frozen.condition}.v{version}.zip", freeze.frozen_bundle(frozen), ZIP)


@require_safe
def frozen_manifest(request: PersonRequest, slug: str, condition_id: int, version: int) -> HttpResponseBase:
    """The manifest of a frozen version, as it was signed."""
    campaign = organized_campaign(request.user, slug)
    frozen = frozen_version(campaign_condition(campaign, condition_id), version)
    return download(f"{campaign.slug}.{frozen.condition}.v{version}.manifest.json", frozen.manifest, JSON)
