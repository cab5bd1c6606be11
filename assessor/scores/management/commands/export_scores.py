from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign
from assessor.scores.kinds import all_kinds, scored_conditions
from assessor.scores.leaderboards import FORMS, Incomplete, score_lines
from assessor.scores.means import Policy


class Command(ExportCommand):
    help = "Export the scores of a condition, of nuggets or of support: a table, or a leaderboard with every topic."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The name of the condition, such as Edits/Manual.")
        parser.add_argument("--form", choices=FORMS, default="csv")
        parser.add_argument(
            "--policy",
            choices=list(Policy),
            default=Policy.ZERO,
            help="How a topic counts that a run did not answer: zero, or only answered ones do.",
        )
        parser.add_argument(
            "--allow-incomplete", action="store_true", help="Write the means over complete answers where some are not."
        )

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        kinds = " or ".join(kind.condition_kind for kind in all_kinds())
        condition = named(scored_conditions(campaign), "name", options["condition"], f"condition of {kinds}")
        policy, may_lack = Policy(options["policy"]), options["allow_incomplete"]
        try:
            return score_lines(condition, options["form"], policy, allow_incomplete=may_lack)
        except Incomplete as error:
            raise CommandError(f"{error} With --allow-incomplete, means are over the complete ones.") from error
