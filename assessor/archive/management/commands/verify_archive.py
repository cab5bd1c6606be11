from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.archive.errors import ArchiveError
from assessor.archive.reader import verify


class Command(BaseCommand):
    help = "Checks an archive, without a database: its sums, its counts, every value and every reference."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            counts = verify(Path(options["file"]))
        except ArchiveError as error:
            raise CommandError(str(error)) from error
        for name, number in counts.items():
            self.stdout.write(f"{number:>10,}  {name}")
        self.stdout.write("All of it is as its manifest says, and every reference leads somewhere.")
