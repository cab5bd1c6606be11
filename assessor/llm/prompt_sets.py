"""Prompt sets: texts of prompts under one name, in folders or a campaign's own, made of published templates.

A set is the files NAME.md of its folders, one for each prompt that it has. Folders are looked for in `prompt_sets` of
each app and in the folder that ASSAY_PROMPT_SETS names; what apps have under one name is one set.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from django.apps import apps
from django.conf import settings

from assessor.campaigns.models import Campaign
from assessor.llm.job_kind import job_prompts
from assessor.llm.models import PROMPT_SET_NAME, CampaignPromptSet
from assessor.llm.prompts import PromptSet, PromptSetError

OWN = "assay-1"
MOST_BYTES = 100_000  # of a file


def prompt_set(name: str, campaign: Campaign | None = None) -> PromptSet:
    """Return the prompt set of this name, of a campaign or as it is on disk now. Raises PromptSetError."""
    made = CampaignPromptSet.objects.filter(campaign=campaign, name=name).first() if campaign and name != OWN else None
    if made:
        return checked_set(name, made.texts)
    folders = _folders().get(name)
    if folders is None:
        raise PromptSetError(f"There is no prompt set called {name}.")
    places = [(prompt, folder / f"{prompt}.md") for prompt in job_prompts() for folder in folders]
    return checked_set(name, {prompt: _read(path) for prompt, path in places if os.path.lexists(path)})


def checked_set(name: str, texts: Mapping[str, str]) -> PromptSet:
    """Return texts, by prompt, as a prompt set. Raises PromptSetError for a wrong text, and where there is none.

    Texts of prompts that no job has are left out.
    """
    known = job_prompts()
    ours = {prompt: text for prompt, text in texts.items() if prompt in known}
    if not ours:
        wanted = ", ".join(f"{prompt}.md" for prompt in known)
        raise PromptSetError(f"The prompt set {name} has no prompt. Add one or more of {wanted}.")
    for prompt, text in ours.items():
        known[prompt].check(f"{name}/{prompt}.md", text)
    return PromptSet(name, ours)


def names(campaign: Campaign | None = None) -> list[str]:
    """Return the names of all prompt sets: Assay's own first, then a campaign's, then those dropped in."""
    made = CampaignPromptSet.objects.filter(campaign=campaign).values_list("name", flat=True) if campaign else ()
    return list(dict.fromkeys((OWN, *made, *_folders())))


def _folders() -> dict[str, list[Path]]:
    """Return the folders of each set, those of apps first: a folder that was dropped in can't replace such a set."""
    found: dict[str, list[Path]] = {}
    for app in apps.get_app_configs():
        for folder in _sets_in(Path(app.path) / "prompt_sets"):
            found.setdefault(folder.name, []).append(folder)
    dropped_in = {folder.name: [folder] for folder in _sets_in(settings.PROMPT_SETS)}
    return dropped_in | found


def _sets_in(place: Path) -> list[Path]:
    return sorted(path for path in place.glob("*/") if re.match(PROMPT_SET_NAME, path.name))


def _read(path: Path) -> str:
    file = f"{path.parent.name}/{path.name}"
    if not path.is_file():  # a device or a pipe would be read for ever
        raise PromptSetError(f"{file} is no file.")
    try:
        with path.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise PromptSetError(f"{file} is larger than {MOST_BYTES:,} bytes.")
        return data.decode()
    except OSError as error:
        raise PromptSetError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PromptSetError(f"{file} is not UTF-8.") from error
