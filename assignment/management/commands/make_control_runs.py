from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assignment.control_runs import ControlError, make_control_runs
from assignment.label_kind import ASSIGNMENT


class Command(BaseCommand):
    help = "Add the control runs of a condition's nuggets: one that says all of them, and one that says nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--nuggets", required=True, help="The condition of the finished nuggets.")
        parser.add_argument("--canaries", action="store_true", help="Also add runs that try to mislead a judge.")
        parser.add_argument(
            "--anew", action="store_true", help="Where nuggets were changed since, make another run of all of them."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        conditions = campaign.conditions.filter(kind__in=ASSIGNMENT.builds_on)
        condition = named(conditions, "name", options["nuggets"], "nugget condition")
        try:
            added = make_control_runs(
                nuggets=condition, canaries=options["canaries"], anew=options["anew"], acting_user=None
            )
        except ControlError as error:
            raise CommandError(str(error)) from error
        for tag, answers in added.items():
            self.stdout.write(f"{tag}: {answers} answers added")
