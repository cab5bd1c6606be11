from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.values import json_object
from assessor.studies.actions import register_study
from assessor.studies.registration import LISTS, TEXTS, RegistrationError


class Command(BaseCommand):
    help = "Register a study before the first label of its conditions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument(
            "file", type=Path, help=f"JSON: {', '.join(TEXTS)} as texts; {', '.join(LISTS)} as lists of texts."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, path = campaign_called(options["campaign"]), options["file"]
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{path} can't be read: {error}") from error
        report = Report(path.name)
        fields = json_object(Line(1, text), report)
        if fields is None:
            raise CommandError("\n".join(problem.told(path.name) for problem in report.errors))
        try:
            registration = register_study(campaign=campaign, fields=fields, acting_user=None)
        except RegistrationError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{registration}: registered; sha256 {registration.sha256}")
