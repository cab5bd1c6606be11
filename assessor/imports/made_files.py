"""Files that are made here, and come in as any others: checked whole, imported whole or not at all."""

import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from django.db.models import Q

from assessor.accounts.models import Person
from assessor.campaigns.models import CONTROL, Campaign, Import, Run
from assessor.formats.run_list import write_run_list
from assessor.imports import importer
from assessor.imports.management.import_command import import_file

_NAMED = 10  # problems in a message


class NotImported(Exception):
    """A file was not imported; the text says why."""


def import_lines(campaign: Campaign, kind: str, name: str, lines: Iterable[str], person: Person | None) -> Import:
    """Import a file of this name, which is written for it, and return the import. Raises NotImported."""
    with tempfile.TemporaryDirectory(prefix="assay-made-") as folder:
        path = Path(folder) / "file"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
        try:
            made = import_file(campaign, kind, path, file_name=name, person=person)
        except importer.Busy as busy:
            raise NotImported(f"{busy} Try again when it is over.") from busy
    if made.state != Import.State.DONE:
        problems = [
            f"{one['field']}: found {one['found']}, expected {one['expected']}" for one in made.report["errors"]
        ]
        raise NotImported(f"{name} was not imported ({made.get_state_display()}). {'; '.join(problems[:_NAMED])}")
    return made


def free_tag(campaign: Campaign, first: str, taken: Collection[str] = ()) -> str:
    """Return the tag of a new run: the first choice, or with a number where a run has it, or it is among the taken."""
    tag, number = first, 1
    while tag in taken or campaign.runs.filter(Q(tag=tag) | Q(aliases__name=tag)).exists():
        number += 1
        tag = f"{first}.{number}"
    return tag


def declare_control_run(
    campaign: Campaign, tag: str, team: str, person: Person | None, by: Run.Type = Run.Type.AUTOMATIC
) -> None:
    """Make a run that is no system's, before its answers: so it passes for a system's at no moment.

    Raises NotImported.
    """
    row = (tag, team, CONTROL, by.value, None, "", "")
    import_lines(campaign, "run_list", "runs.csv", write_run_list([row]), person)
