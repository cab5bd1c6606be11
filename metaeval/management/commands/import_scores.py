from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called
from metaeval.actions import ComparisonError, TableError, import_table


class Command(BaseCommand):
    help = "Keep a score table from elsewhere, to stand on a side of comparisons: CSV, JSONL or a leaderboard."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("file", type=Path, help="The file, plain or .gz.")
        parser.add_argument("--name", default="", help="What comparisons call it; by default the file's name.")
        parser.add_argument("--run", default="", metavar="TAG", help="The run, if the file names none.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, path = campaign_called(options["campaign"]), options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        try:
            table = import_table(
                campaign=campaign,
                name=options["name"],
                path=path,
                file_name=path.name,
                run=options["run"],
                acting_user=None,
            )
        except TableError as error:
            listed = "\n".join(f"  {problem.told(path.name)}" for problem in error.report.errors)
            raise CommandError(f"{error}\n{listed}") from error
        except ComparisonError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{table}: kept; sha256 {table.sha256}")
