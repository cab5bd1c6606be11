from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.scores.score_source import scored_conditions, scoring_of
from assessor.scores.tables import SEED
from metaeval.charts.rendering import Theme
from metaeval.report import write_folder
from metaeval.significance import (
    METHOD_WORDS,
    compute_significance,
    layout_notes,
    power,
    sentence,
    significance_figures,
    significance_tables,
)
from metaeval.stats.layout import Cells
from metaeval.stats.multiple_comparisons import DRAWS, Method


class Command(BaseCommand):
    help = "Count the pairs of runs that differ under a condition, with corrections for the number of pairs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition", required=True, help="The condition's name.")
        parser.add_argument("--measure", help="By default the one that runs are ranked by.")
        parser.add_argument(
            "--policy", choices=list(Cells), default=Cells.ZERO, help="What counts where a run did not answer a topic."
        )
        parser.add_argument("--correction", choices=list(Method), default=Method.TUKEY, help="Of letters and figures.")
        parser.add_argument("--draws", type=int, default=DRAWS, help="Permutations of the randomised test.")
        parser.add_argument("--seed", type=int, default=SEED, help="Of the permutations; the same seed, same result.")
        parser.add_argument("--out", type=Path, help="A folder for tables and figures.")
        parser.add_argument("--theme", choices=list(Theme), default=Theme.LIGHT, help="Of the figures.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        condition = named(scored_conditions(campaign), "name", options["condition"], "condition")
        keys = scoring_of(condition.kind).measures.keys
        measure = options["measure"] or keys[0]
        if measure not in keys:
            raise CommandError(f"There is no measure {measure}. There are: {', '.join(keys)}.")
        if options["draws"] < 1 or options["seed"] < 0:
            raise CommandError("There must be at least one draw, and a seed is not negative.")
        cells, method, draws, seed = (options[name] for name in ("policy", "correction", "draws", "seed"))
        found = compute_significance(condition, Cells(cells), measure, draws=draws, seed=seed)
        for one in METHOD_WORDS:
            if one in found.tests.p:
                self.stdout.write(sentence(found, one))
        for line in (*filter(None, [found.why_not]), *layout_notes(found)):
            self.stdout.write(line)
        if options["out"]:
            method = Method(method)
            tables = {name: "".join(lines) for name, lines in significance_tables(found, method).items()}
            figures = significance_figures(
                found, method, power(condition, Cells(cells), method, draws=draws, seed=seed)
            )
            charts = ((one.name, one.specification) for one in figures)
            try:
                files = write_folder(options["out"], tables, charts, Theme(options["theme"]))
            except OSError as error:
                raise CommandError(f"The results could not be written: {error}") from error
            self.stdout.write(f"{len(files)} files in {options['out']}: {', '.join(files)}")
