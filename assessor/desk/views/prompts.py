"""The prompts: which sets there are, what would be sent for a topic, and published templates that become a set."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign
from assessor.desk.forms import PromptForm, TemplatesForm
from assessor.llm import actions
from assessor.llm.job_kind import job_prompts
from assessor.llm.preview import preview
from assessor.llm.prompt_sets import OWN, checked_set, names, prompt_set
from assessor.llm.prompt_templates import Template, read_templates
from assessor.llm.prompts import PreviewError, PromptSetError, sha256_of

_SALT = "desk.import_prompts"
_CONFIRM_WITHIN = 3600  # seconds


class _Set(NamedTuple):
    """A prompt set on the list, or why it can't be used."""

    name: str
    prompts: list["_Prompt"]
    problem: str = ""


class _Prompt(NamedTuple):
    """A prompt of a set: its hash, "" where the set lacks it, and of an imported one what it was made from."""

    name: str
    sha256: str
    source: Mapping[str, str]


class _Understood(NamedTuple):
    """What a prompt of the set will be: a template as it was read, or None where it comes from Assay's own."""

    prompt: str
    template: Template | None


@require_safe
def prompts(request: PersonRequest, slug: str) -> HttpResponse:
    """The list of prompt sets and the form; when it is filled in, the messages as they would be sent."""
    campaign = organized_campaign(request.user, slug)
    form = PromptForm(campaign, request.GET if "prompt" in request.GET else None)
    shown = None
    if form.is_valid():
        try:
            chosen = prompt_set(form.cleaned_data["prompt_set"], campaign)
            shown = preview(campaign, form.cleaned_data["prompt"], chosen, form.subject())
        except (PromptSetError, PreviewError) as error:
            form.add_error(None, str(error))
    context = {
        "campaign": campaign,
        "form": form,
        "sets": _sets(campaign),
        "shown": shown,
        "schema": json.dumps(shown.request.schema, indent=2) if shown and shown.request.schema else "",
    }
    return render(request, "desk/prompts.html", context)


def _sets(campaign: Campaign) -> list[_Set]:
    made = {one.name: one for one in campaign.prompt_sets.all()}
    found = []
    for name in names(campaign):
        provenance = made[name].provenance if name in made else {}
        try:
            texts = (checked_set(name, made[name].texts) if name in made else prompt_set(name)).texts
        except PromptSetError as error:
            found.append(_Set(name, [], str(error)))
            continue
        hashes = {prompt: sha256_of(text) for prompt, text in texts.items()}
        rows = [_Prompt(prompt, hashes.get(prompt, ""), provenance.get(prompt, {})) for prompt in job_prompts()]
        found.append(_Set(name, rows))
    return found


@require_http_methods(["GET", "POST"])
def import_prompts(request: PersonRequest, slug: str) -> HttpResponse:
    """Published templates: what they were understood as is shown first, and becomes a prompt set once confirmed."""
    campaign = organized_campaign(request.user, slug)
    if "confirmed" in request.POST:
        return _confirmed(request, campaign)
    form = TemplatesForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    context: dict[str, object] = {"campaign": campaign, "form": form, "own": OWN}
    if form.is_valid():
        data = form.cleaned_data
        context |= {"understood": _understood(data["templates"]), "name": data["name"]}
        context["token"] = _token(campaign, data["name"], data["files"])
    return render(request, "desk/import_prompts.html", context)


def _understood(templates: Sequence[Template]) -> list[_Understood]:
    given = {template.prompt: template for template in templates}
    return [_Understood(prompt, given.get(prompt)) for prompt in job_prompts()]


def _token(campaign: Campaign, name: str, files: Sequence[tuple[str, bytes]]) -> str:
    """Return what the page carries from the preview to the confirmation."""
    content = [[file, b64encode(data).decode()] for file, data in files]
    return signing.dumps([campaign.pk, name, content], salt=_SALT, compress=True)


def _confirmed(request: PersonRequest, campaign: Campaign) -> HttpResponse:
    try:
        of, name, content = signing.loads(request.POST["confirmed"], salt=_SALT, max_age=_CONFIRM_WITHIN)
        if of != campaign.pk:
            raise signing.BadSignature
        templates = read_templates([(file, b64decode(data)) for file, data in content])
        made = actions.create_prompt_set(campaign=campaign, name=name, templates=templates, acting_user=request.user)
    except signing.BadSignature:
        messages.error(request, "Nothing was created: this check is over an hour old. Choose the files again.")
    except PromptSetError as error:
        messages.error(request, f"Nothing was created. {error}")
    else:
        messages.success(request, f"Prompt set {made.name} created. Choose it in a judge's settings.")
        return redirect("prompts", campaign.slug)
    return redirect("import_prompts", campaign.slug)
