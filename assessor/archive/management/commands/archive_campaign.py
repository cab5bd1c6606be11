import os
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.archive.errors import ArchiveError
from assessor.archive.registry import WRITTEN
from assessor.archive.writer import CampaignArchive
from assessor.campaigns import history
from assessor.campaigns.management.common import campaign_called


class Command(BaseCommand):
    help = "Writes all that belongs to a campaign as one archive, which is its backup."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--output", "-o", required=True, help="The file to write, or - for standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        try:
            if options["output"] == "-":
                for block in CampaignArchive(campaign):
                    sys.stdout.buffer.write(block)
            else:
                _write(Path(options["output"]).resolve(), CampaignArchive(campaign))
        except ArchiveError as error:
            raise CommandError(str(error)) from error
        history.record(WRITTEN, campaign, campaign=campaign, person=None)


def _write(path: Path, blocks: Any) -> None:
    """Write a file that is there whole or not at all, on disk, and for its owner's eyes: it has people's addresses."""
    if not path.parent.is_dir():
        raise CommandError(f"There is no folder {path.parent}.")
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.writelines(blocks)
            out.flush()
            os.fsync(out.fileno())
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
