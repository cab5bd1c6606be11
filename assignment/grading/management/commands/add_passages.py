from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called
from assignment.grading.passages import PassageError, add_pooled_passages


class Command(BaseCommand):
    help = "Take in those passages of the pool that can't be graded by questions yet, with their texts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            added = add_pooled_passages(campaign_called(options["campaign"]), acting_user=None)
        except PassageError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{added:,} passages added")
