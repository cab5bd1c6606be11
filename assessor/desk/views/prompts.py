"""The prompts: which sets there are, and what would be sent for a topic."""

import json
from typing import NamedTuple

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.collection.access import organized_campaign
from assessor.collection.http import PersonRequest
from assessor.desk.forms import PromptForm
from assessor.desk.rendering import RenderingError, rendered
from assessor.llm.prompt_sets import PromptSetError, names, prompt_set


class _Set(NamedTuple):
    """A prompt set on the list: its hash, or why it can't be used."""

    name: str
    sha256: str
    problem: str


@require_safe
def prompts(request: PersonRequest, slug: str) -> HttpResponse:
    """The list of prompt sets and the form; when it is filled in, the messages as they would be sent."""
    campaign = organized_campaign(request.user, slug)
    form = PromptForm(campaign, request.GET if "question" in request.GET else None)
    shown = None
    if form.is_valid():
        try:
            chosen = prompt_set(form.cleaned_data["prompt_set"])
            shown = rendered(campaign, form.cleaned_data["question"], chosen, form.choice())
        except (PromptSetError, RenderingError) as error:
            form.add_error(None, str(error))
    context = {
        "campaign": campaign,
        "form": form,
        "sets": [_set(name) for name in names()],
        "shown": shown,
        "schema": json.dumps(shown.question.schema, indent=2) if shown else "",
    }
    return render(request, "desk/prompts.html", context)


def _set(name: str) -> _Set:
    try:
        return _Set(name, prompt_set(name).sha256, "")
    except PromptSetError as error:
        return _Set(name, "", str(error))
