from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.scores.score_source import scored_conditions
from metaeval.actions import DRAWS, ComparisonError, create_comparison, run
from metaeval.charts.rendering import Theme
from metaeval.management.sides import comparable_called
from metaeval.models import Calculation
from metaeval.report import write_report
from metaeval.report_tables import SUMMARY
from metaeval.stats.ceiling import MARGIN
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import POLICIES


class Command(BaseCommand):
    help = "Compare two conditions of a campaign, two sources of grades, or either with an imported score table."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("first", help="A condition, a source of grades or a score table. The reference side.")
        parser.add_argument("second", help="The other one.")
        parser.add_argument("--name", default="", help="Of the comparison; by default that of both sides.")
        parser.add_argument("--support", nargs=2, metavar=("FIRST", "SECOND"), help="Whose support makes F1.")
        parser.add_argument("--tasks", nargs="+", default=(), metavar="TASK", help="Runs of these tasks alone.")
        parser.add_argument("--runs", nargs="+", default=(), metavar="TAG", help="These runs alone.")
        parser.add_argument("--topics", nargs="+", default=(), metavar="ID", help="These topics alone.")
        parser.add_argument("--topics-of", metavar="CONDITION", help="Only topics that are judged under it.")
        parser.add_argument(
            "--circular", action="store_true", help="Runs that were made from what scores them, or by who does, too."
        )
        parser.add_argument(
            "--margin",
            type=float,
            default=MARGIN,
            help="By how much less a judge may agree with a person than a second person, in kappa.",
        )
        parser.add_argument(
            "--policy",
            choices=POLICIES,
            default=Policy.ZERO,
            help="How a topic counts that a run did not answer: zero, or only answered ones do.",
        )
        parser.add_argument("--seed", type=int, default=0, help="Of the draws; the same seed, the same result.")
        parser.add_argument("--draws", type=int, default=DRAWS, help="How often topics are drawn for intervals.")
        parser.add_argument("--out", type=Path, help="A folder for tables, JSON and figures.")
        parser.add_argument("--theme", choices=list(Theme), default=Theme.LIGHT, help="Of the figures.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        conditions = scored_conditions(campaign)

        def condition(name: str) -> Any:
            return named(conditions, "name", name, "condition")

        first_support, second_support = map(condition, options["support"]) if options["support"] else (None, None)
        if options["seed"] < 0:
            raise CommandError("A seed is not negative.")
        try:
            calculation = create_comparison(
                campaign=campaign,
                first=comparable_called(campaign, options["first"]),
                second=comparable_called(campaign, options["second"]),
                name=options["name"],
                first_support=first_support,
                second_support=second_support,
                topics_of=condition(options["topics_of"]) if options["topics_of"] else None,
                **{
                    name: options[name]
                    for name in ("tasks", "runs", "topics", "circular", "margin", "policy", "seed", "draws")
                },
                acting_user=None,
            )
        except ComparisonError as error:
            raise CommandError(str(error)) from error
        run(calculation)
        if calculation.state != Calculation.State.DONE:
            raise CommandError(f"{calculation.get_state_display().capitalize()}: {calculation.why}")
        self.stdout.write(calculation.files[SUMMARY], ending="")
        if options["out"]:
            try:
                files = write_report(options["out"], calculation, Theme(options["theme"]))
            except OSError as error:
                raise CommandError(f"The results could not be written: {error}") from error
            self.stdout.write(f"\n{len(files)} files in {options['out']}: {', '.join(files)}")
