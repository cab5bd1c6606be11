from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.archive.actions import restore
from assessor.archive.errors import ArchiveError


class Command(BaseCommand):
    help = "Makes a campaign again from its archive, all of it or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument(
            "--existing-people",
            action="store_true",
            help="Whoever has a name that the archive has too is the same person, and stays as they are here.",
        )
        parser.add_argument(
            "--while-others-wait",
            action="store_true",
            help="On SQLite, where there are other campaigns: nobody can save in them until it is done.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            campaign = restore(
                Path(options["file"]),
                use_existing_people=options["existing_people"],
                while_others_wait=options["while_others_wait"],
            )
        except ArchiveError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{campaign} ({campaign.slug}) is restored. New people can sign in once they have a password."
        )
