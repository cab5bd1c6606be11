from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from metaeval.charts.rendering import Theme
from metaeval.management.table_files import read_table_file
from metaeval.report import write_score_report
from metaeval.statistics_tables import left_out_lines, text_lines
from metaeval.stats.comparison import compare
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import POLICIES, match


class Command(BaseCommand):
    help = "Compare two score tables, without a database: agreement of the rankings, as a table, JSON and figures."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("first", help="A score table: CSV, JSONL or a leaderboard. The reference side.")
        parser.add_argument("second", help="The other one.")
        parser.add_argument("--out", type=Path, help="A folder for tables, JSON and figures.")
        parser.add_argument("--names", nargs=2, metavar=("FIRST", "SECOND"), help="What the two sides are called.")
        parser.add_argument("--seed", type=int, default=0, help="Of the draws; the same seed, the same result.")
        parser.add_argument("--draws", type=int, default=1000, help="How often topics are drawn for intervals.")
        parser.add_argument(
            "--policy",
            choices=POLICIES,
            default=Policy.ZERO,
            help="How a topic without a line of a run counts, unless the table tells: zero, or only answered ones do.",
        )
        parser.add_argument("--theme", choices=list(Theme), default=Theme.LIGHT, help="Of the figures.")
        parser.add_argument("--hours", type=float, help="Hours of work for a topic, for the curve of topics needed.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["draws"] < 1 or options["seed"] < 0:
            raise CommandError("There must be at least one draw, and a seed is not negative.")
        paths = [Path(options[place]) for place in ("first", "second")]
        names = options["names"] or [path.name for path in paths]
        read = [read_table_file(path, name, options["policy"]) for path, name in zip(paths, names, strict=True)]
        scores = match(read[0][0], read[1][0])
        comparisons = compare(scores, seed=options["seed"], draws=options["draws"])
        for line in (*text_lines(scores, comparisons), "", *left_out_lines(scores)):
            self.stdout.write(line)
        if options["out"]:
            tables = [
                {"file": path.name, "sha256": sha256, "policy": str(options["policy"])}
                for path, (_, sha256) in zip(paths, read, strict=True)
            ]
            inputs = {"inputs": tables, "seed": options["seed"], "draws": options["draws"]}
            theme, hours = Theme(options["theme"]), options["hours"]
            try:
                files = write_score_report(options["out"], scores, comparisons, inputs, theme=theme, hours=hours)
            except OSError as error:
                raise CommandError(f"The results could not be written: {error}") from error
            self.stdout.write(f"\n{len(files)} files in {options['out']}: {', '.join(files)}")
