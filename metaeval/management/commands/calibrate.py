from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named, write_lines
from metaeval.actions import create_calibration
from metaeval.calibrations import CSV, JSON, NotCalibrated, file_lines, headlines, labelled_conditions
from metaeval.management.sides import comparable_called
from metaeval.models import ScoreTable


class Command(BaseCommand):
    help = "Calibrate a model's judge by people's labels of the same things, and keep what comes of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("human", help="The condition, or grades, with people's labels.")
        parser.add_argument("model", help="The condition with the model's labels.")
        parser.add_argument("--out", type=Path, help="A folder for CSV and JSON; by default the CSV is printed.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        human = comparable_called(campaign, options["human"])
        if isinstance(human, ScoreTable):
            raise CommandError(f"{human} is a score table: it has no labels.")
        judged = named(labelled_conditions(campaign), "name", options["model"], "condition")
        try:
            calibration = create_calibration(campaign=campaign, human=human, judged=judged, acting_user=None)
        except NotCalibrated as error:
            raise CommandError(str(error)) from error
        self.stdout.write("\n".join(headlines(calibration)))
        if not options["out"]:
            write_lines(file_lines(calibration, CSV), "-", self.stdout)
            return
        options["out"].mkdir(parents=True, exist_ok=True)
        for form in (CSV, JSON):
            write_lines(file_lines(calibration, form), str(options["out"] / f"calibration.{form}"), self.stdout)
