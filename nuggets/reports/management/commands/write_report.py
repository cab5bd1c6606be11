from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.formats.report import quantity
from nuggets.reports.actions import ReportError, write_report
from nuggets.reports.condition_kind import REPORTS
from nuggets.reports.forms import BY_RULE, MOST
from nuggets.reports.models import Report


class Command(BaseCommand):
    help = "Put reports together from what a model found, or take those that people signed, and import them as a run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument(
            "--reports", required=True, help="The condition under which documents were read, or reports signed."
        )
        told = "Sentences as documents have them, or in the model's words; signed reports are taken as they are."
        parser.add_argument(
            "--text", choices=[name for name, _ in BY_RULE], default=Report.Text.EXTRACTIVE.value, help=told
        )
        told = "Sentences of a question at most; 1 for short reports, 5 for long ones."
        parser.add_argument("--per-question", type=int, default=1, choices=range(1, MOST + 1), metavar="N", help=told)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        condition = named(campaign.conditions.filter(kind=REPORTS.name), "name", options["reports"], "report condition")
        try:
            written = write_report(
                reports=condition, text=options["text"], per_question=options["per_question"], acting_user=None
            )
        except ReportError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{written.tag}: {quantity(written.answers, 'reports')}")
        if written.left_out:
            self.stdout.write(f"Not read to the end or not signed, and left out: {', '.join(written.left_out)}")
