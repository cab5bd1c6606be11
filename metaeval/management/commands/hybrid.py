from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.scores.score_source import scored_conditions
from metaeval.actions import ComparisonError, create_hybrid
from metaeval.charts.rendering import Theme
from metaeval.hybrid_figures import hours_of
from metaeval.hybrid_tables import score_lines
from metaeval.hybrid_words import headline
from metaeval.hybrids import hybrid_result
from metaeval.inputs import NothingToCompare
from metaeval.report import write_hybrid_report
from metaeval.stats.hybrid import Target


class Command(BaseCommand):
    help = "Estimate scores from people's labels of some topics and a model's of all, with confidence intervals (CSV)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("human", help="The condition with people's labels of some topics.")
        parser.add_argument("model", help="The condition with a model's labels of all topics.")
        parser.add_argument("--measure", default="", help="The key of a measure; the first of both by default.")
        parser.add_argument(
            "--target",
            choices=list(Target),
            default=Target.CAMPAIGN,
            help="Scores over the campaign's topics, or over all topics that these are a sample of.",
        )
        parser.add_argument(
            "--draw", type=int, metavar="NUMBER", help="Which draw of topics under the first: 1, 2, ..."
        )
        parser.add_argument("--name", default="", help="Of the hybrid scores; by default that of both sides.")
        parser.add_argument("--out", type=Path, help="A folder for tables and figures.")
        parser.add_argument("--theme", choices=list(Theme), default=Theme.LIGHT, help="Of the figures.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        human, model = (
            named(scored_conditions(campaign), "name", options[name], "condition") for name in ("human", "model")
        )
        draw = None
        if (number := options["draw"]) is not None:
            draws = list(human.draws.all())
            if not 1 <= number <= len(draws):
                raise CommandError(f"There is no draw {number} under {human}; there are {len(draws)}.")
            draw = draws[number - 1]
        try:
            hybrid = create_hybrid(
                campaign=campaign,
                human=human,
                model=model,
                name=options["name"],
                draw=draw,
                target=options["target"],
                acting_user=None,
            )
            result = hybrid_result(hybrid, options["measure"])
        except KeyError as error:
            raise CommandError(f"Not both conditions have the measure {options['measure']}.") from error
        except (ComparisonError, NothingToCompare) as error:
            raise CommandError(str(error)) from error
        for line in score_lines([result], hybrid):
            self.stdout.write(line, ending="")
        self.stderr.write(headline(result))
        if options["out"]:
            try:
                files = write_hybrid_report(options["out"], result, Theme(options["theme"]), hours_of(hybrid), hybrid)
            except OSError as error:
                raise CommandError(f"The results could not be written: {error}") from error
            self.stderr.write(f"{len(files)} files in {options['out']}: {', '.join(files)}")
