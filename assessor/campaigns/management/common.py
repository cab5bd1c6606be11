"""What commands share."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from assessor.campaigns.models import Campaign


def campaign_called(slug: str) -> Campaign:
    """Return the campaign with this short name, or end the command saying which there are."""
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        known = ", ".join(Campaign.objects.values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no campaign {slug}. There are: {known}.")
    return campaign


def named(records: Any, field: str, name: str, what: str) -> Any:
    """Return the record of a campaign with this name, or end the command saying which there are."""
    record = records.filter(**{field: name}).first()
    if record is None:
        known = ", ".join(records.values_list(field, flat=True)) or "none"
        raise CommandError(f"There is no {what} {name}. There are: {known}.")
    return record


def write_lines(lines: Iterable[str], file: str, stdout: OutputWrapper) -> None:
    """Write lines to standard output (-), or to a file that is there whole or not at all."""
    if file == "-":
        for line in lines:
            stdout.write(line, ending="")
        return
    write_bytes((line.encode() for line in lines), file)


def write_bytes(data: Iterable[bytes], file: str) -> None:
    """Write a file that is there whole or not at all."""
    path = Path(file).resolve()
    if not path.parent.is_dir():
        raise CommandError(f"There is no folder {path.parent}.")
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            device.writelines(data)
        return
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.writelines(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(unfinished).chmod(0o666 & ~umask)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
