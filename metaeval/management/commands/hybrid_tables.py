from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from metaeval.charts.rendering import Theme
from metaeval.hybrid_sides import match_sides
from metaeval.hybrid_tables import score_lines
from metaeval.hybrid_words import headline
from metaeval.hybrids import Settings, estimate
from metaeval.inputs import NothingToCompare
from metaeval.management.table_files import read_table_file
from metaeval.report import write_hybrid_report
from metaeval.stats.hybrid import PRIOR_SD, Target
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import POLICIES


class Command(BaseCommand):
    help = "Estimate hybrid scores from two score tables by topic, without a database (CSV)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("human", help="Scores by people, by topic: CSV, JSONL or a leaderboard; of some topics.")
        parser.add_argument("model", help="Scores by a model, by topic, of all topics.")
        parser.add_argument("--measure", help="The key of a measure; the first of both by default.")
        parser.add_argument("--target", choices=list(Target), default=Target.CAMPAIGN, help="As for hybrid.")
        parser.add_argument("--confidence", type=int, default=95, help="Of intervals, in percent.")
        parser.add_argument("--prior-sd", type=float, default=PRIOR_SD, help="Of runs' biases, for the order of runs.")
        parser.add_argument(
            "--policy",
            choices=POLICIES,
            default=Policy.ZERO,
            help="How a topic without a line of a run counts, unless the table tells: zero, or only answered ones do.",
        )
        parser.add_argument("--out", type=Path, help="A folder for tables and figures.")
        parser.add_argument("--theme", choices=list(Theme), default=Theme.LIGHT, help="Of the figures.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 50 <= options["confidence"] <= 99 or not options["prior_sd"] > 0:
            raise CommandError("Confidence is from 50 to 99 percent, and the prior's standard deviation above 0.")
        human, model = (
            read_table_file(Path(options[name]), Path(options[name]).name, options["policy"])[0]
            for name in ("human", "model")
        )
        try:
            sides = match_sides(human, model)
        except NothingToCompare as error:
            raise CommandError(str(error)) from error
        key = options["measure"] or sides.measures[0]
        if key not in sides.measures:
            raise CommandError(f"There is no measure {key}. There are: {', '.join(sides.measures)}.")
        result = estimate(sides, key, Settings(Target(options["target"]), options["confidence"], options["prior_sd"]))
        for line in score_lines([result]):
            self.stdout.write(line, ending="")
        self.stderr.write(headline(result))
        if options["out"]:
            try:
                files = write_hybrid_report(options["out"], result, Theme(options["theme"]))
            except OSError as error:
                raise CommandError(f"The results could not be written: {error}") from error
            self.stderr.write(f"{len(files)} files in {options['out']}: {', '.join(files)}")
