from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.actions import ConditionError
from assessor.campaigns.management.common import campaign_called, named
from assessor.scores.score_source import scored_conditions
from assessor.studies.actions import create_panel
from metaeval.panels import headline, panel_report
from metaeval.stats.panels import Rule, Ties


class Command(BaseCommand):
    help = "Make a panel: one judge of several models' conditions, whose labels follow from theirs by a rule."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("members", nargs="+", help="The conditions under which the models label.")
        parser.add_argument("--rule", choices=[one.value for one in Rule], default=Rule.MAJORITY.value)
        parser.add_argument(
            "--ties",
            choices=[one.value for one in Ties],
            default=Ties.STRICTER.value,
            help="What counts where several labels could.",
        )
        parser.add_argument("--quorum", type=int, help="How many members must have labelled an item; by default all.")
        parser.add_argument("--name", default="", help="Its name; by default one made of the rule.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        judged = scored_conditions(campaign)
        try:
            panel = create_panel(
                campaign=campaign,
                members=[
                    named(judged, "name", name, "condition") for name in sorted(options["members"], key=str.encode)
                ],
                rule=Rule(options["rule"]),
                ties=Ties(options["ties"]),
                quorum=options["quorum"],
                name=options["name"],
                acting_user=None,
            )
        except ConditionError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{panel}: {headline(panel, panel_report(panel))}")
