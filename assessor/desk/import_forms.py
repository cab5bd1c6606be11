"""Files that come in by a page: the drop zone, and what is asked of a file whose kind needs to know more."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.http import NO_FILE
from assessor.campaigns.models import Campaign, Condition, Import, QrelsSource
from assessor.imports.forms import FileForm, kind_choices
from assessor.imports.loaders import LOADERS, Loader

_ENDINGS = re.compile(r"(\.(jsonl?|jl|tsv|csv|txt|gz))+$", re.IGNORECASE)
_BY = {
    QrelsSource.By.PEOPLE: {"people", "human", "manual", "nist", "assessors", "independent"},
    QrelsSource.By.MODEL: {"model", "umbrela", "auto", "llm", "gpt", "rehearsal"},
}


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Some files at once, in the order of their names."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[Any]]":
        files = data or [None]
        return sorted((super(FilesField, self).clean(file, initial) for file in files), key=lambda file: file.name)


class DropForm(forms.Form):
    """Files of any kinds; a kind is said for those that are not recognised by their content."""

    uploads = FilesField(label="Files", error_messages={"required": NO_FILE})
    kind = forms.ChoiceField(
        label="They hold", required=False, choices=lambda: [("", "recognise each by its content"), *kind_choices()]
    )
    check_only = forms.BooleanField(label="Only check them, import nothing", required=False)

    def clean_uploads(self) -> "list[UploadedFile[Any]]":
        files: list[UploadedFile[Any]] = self.cleaned_data["uploads"]
        if sum(file.size or 0 for file in files) > settings.MAX_UPLOAD_BYTES:
            most = settings.MAX_UPLOAD_BYTES // 1024**2
            raise forms.ValidationError(f"This page takes at most {most} MiB at once; import larger files by command.")
        return files


class HeldFile(FileForm):
    """A held file in a page's list of them: its fields carry its number, and hold what its name suggests."""

    for_all = forms.BooleanField(required=False)

    def __init__(self, import_record: Import, alike: int, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, prefix=f"file{import_record.pk}", **kwargs)
        self.import_record = import_record
        self.alike = alike  # how many files of its kind are held, where it is the first of several

    @property
    def size(self) -> int:
        return self.import_record.bytes_total


def held_files(campaign: Campaign, typed: Mapping[str, str], *, is_sent: bool = False) -> list[HeldFile]:
    """Return a form for each held file of a campaign, oldest first.

    typed: what a person has in the list so far; is_sent: all of it is to be checked.
    """
    held = list(campaign.imports.filter(state=Import.State.HELD).order_by("pk"))
    if is_sent:
        return [HeldFile(one, alike, _said_of(one, held, typed)) for one, alike in _alike(held)]
    return [HeldFile(one, alike, initial=_suggested(one, campaign) | _own(one, typed)) for one, alike in _alike(held)]


def _alike(held: Sequence[Import]) -> Iterator[tuple[Import, int]]:
    """Yield held files, the first of several that were recognised as of one kind with how many these are, else 0."""
    counts = Counter(one.kind for one in held if one.kind)
    for one in held:
        number = counts.pop(one.kind, 0)
        yield one, number if number > 1 else 0


def _said_of(import_record: Import, held: Sequence[Import], typed: Mapping[str, str]) -> Mapping[str, str]:
    """Return what was filled in for a file, or for the first one of its kind where that holds for all of them."""
    first = next(one for one in held if one.kind == import_record.kind)
    if not import_record.kind or f"file{first.pk}-for_all" not in typed:
        return typed
    return {f"file{import_record.pk}-{name}": value for name, value in _own(first, typed).items()}


def _own(import_record: Import, typed: Mapping[str, str]) -> dict[str, str]:
    prefix = f"file{import_record.pk}-"
    return {name.removeprefix(prefix): value for name, value in typed.items() if name.startswith(prefix)}


def _suggested(import_record: Import, campaign: Campaign) -> dict[str, str]:
    """Return what a file's name says of it: "qrels.people.txt" holds grades by people."""
    words = _words(import_record.file_name)
    by = next((by.value for by, known in _BY.items() if known & {word.lower() for word in words}), "")
    loader = LOADERS.get(import_record.kind, Loader)
    suggested = {"kind": import_record.kind, "by": by} | loader.suggest(campaign, words)
    return suggested | ({"nuggets": _only_nuggets(campaign)} if "nuggets" in loader.asks else {})


def _only_nuggets(campaign: Campaign) -> str:
    """Return the condition of nuggets that were imported, or will be from a held file, if there is one alone."""
    imported = campaign.conditions.filter(method=Condition.IMPORTED)
    names = {one.name for one in imported if kind_of(one).makes_nuggets}
    for one in campaign.imports.filter(state=Import.State.HELD):
        loader = LOADERS.get(one.kind, Loader)
        if loader.makes_nuggets:
            names.add(str(loader.suggest(campaign, _words(one.file_name))["condition"]))
    return names.pop() if len(names) == 1 else ""


def _words(file_name: str) -> list[str]:
    return [word for word in re.split(r"[\s._-]+", _ENDINGS.sub("", file_name)) if word]
