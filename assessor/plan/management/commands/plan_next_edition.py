from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.plan.next_edition import (
    MOST_ASSESSORS,
    MOST_RUNS,
    MOST_TOPICS,
    Choices,
    NoPlan,
    as_csv,
    basis,
    make_plan,
)
from assessor.scores.score_source import scored_conditions
from metaeval.measures import measures_of
from metaeval.stats.layout import Cells


class Command(BaseCommand):
    help = "Say what the next edition of a track tells apart, takes and costs, by the scores of a condition, as CSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition", required=True, metavar="NAME", help="By whose scores.")
        parser.add_argument(
            "--topics", type=int, nargs="+", metavar="N", help="By default the usual numbers, and today's."
        )
        parser.add_argument("--runs", type=int, metavar="N", help="By default as many as today.")
        parser.add_argument("--measure", metavar="KEY", help="As files of scores call it; by default the first one.")
        parser.add_argument(
            "--cells",
            choices=list(Cells),
            default=Cells.ZERO,
            help="How a topic counts that a run did not answer: zero; the same, without runs that answered too few "
            "(most); answered and common: only topics on which all runs have a score.",
        )
        parser.add_argument(
            "--second-opinions", type=int, default=0, metavar="PERCENT", help="Topics judged by several assessors."
        )
        parser.add_argument("--assessors", type=int, default=2, metavar="N", help="Of each of these topics.")
        parser.add_argument("--hours", type=float, help="Of one assessor for a topic; by default as measured.")
        parser.add_argument("--cost", type=float, help="Of the models' side of a topic; by default as jobs cost.")

    def handle(self, *args: Any, **options: Any) -> None:
        condition = named(
            scored_conditions(campaign_called(options["campaign"])), "name", options["condition"], "condition"
        )
        keys = [measure.key for measure in measures_of(condition)]
        measure = options["measure"] or keys[0]
        if measure not in keys:
            raise CommandError(f"There is no measure {measure}. There are: {', '.join(keys)}.")
        self._check(options)
        try:
            found = basis(condition, measure, Cells(options["cells"]))
        except NoPlan as error:
            raise CommandError(str(error)) from error
        if options["second_opinions"] and not found.of_assessors:
            raise CommandError(found.why_not)
        choices = Choices(
            topics=found.components.topics,
            runs=options["runs"] or found.components.runs,
            share=options["second_opinions"] / 100,
            assessors=options["assessors"],
            hours=options["hours"],
            cost=options["cost"],
        )
        made = make_plan(condition, found, choices)
        for line in as_csv(made.rows(options["topics"]) if options["topics"] else made.table):
            self.stdout.write(line, ending="")

    def _check(self, options: dict[str, Any]) -> None:
        limits = {
            "runs": (2, MOST_RUNS),
            "topics": (2, MOST_TOPICS),
            "second_opinions": (0, 100),
            "assessors": (2, MOST_ASSESSORS),
            "hours": (0, 1_000),
            "cost": (0, 1_000_000),
        }
        for name, (least, most) in limits.items():
            given = options[name] if isinstance(options[name], list) else [options[name]]
            if any(value is not None and not least <= value <= most for value in given):
                raise CommandError(f"--{name.replace('_', '-')} is {least:,} to {most:,}.")
