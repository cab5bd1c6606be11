from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.management.common import campaign_called, named
from assessor.training.actions import TrainingError, name_reference


class Command(BaseCommand):
    help = "Say what practice under a condition is held against: another condition, or of grades a source; or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition", required=True)
        parser.add_argument("--reference", help="Without one, there will be no feedback.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, name = campaign_called(options["campaign"]), options["reference"]
        condition = named(campaign.conditions.select_related("campaign"), "name", options["condition"], "condition")
        is_graded = kind_of(condition).makes_grades
        among = campaign.qrels_sources if is_graded else campaign.conditions
        reference = named(among, "name", name, "source of grades" if is_graded else "condition") if name else None
        try:
            name_reference(condition=condition, reference=reference, acting_user=None)
        except TrainingError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Practice under {condition} is held against {reference or 'nothing'}.")
