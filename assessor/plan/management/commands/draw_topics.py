from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.plan.actions.draws import draw_topics
from assessor.work.actions import PlanError


class Command(BaseCommand):
    help = "Draw topics at random that people judge under a condition, and keep the draw; prints their ids."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition", required=True, help="The people's condition.")
        parser.add_argument(
            "--n",
            type=int,
            required=True,
            help="How many topics, with those that this seed drew there before.",
        )
        parser.add_argument("--seed", type=int, required=True, help="The same seed draws the same topics, then more.")
        parser.add_argument("--queue", action="store_true", help="Have them wait there for whoever draws them.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        condition = named(campaign.conditions, "name", options["condition"], "condition")
        if options["seed"] < 0:
            raise CommandError("A seed is not negative.")
        before = condition.draws.count()
        try:
            draw = draw_topics(
                condition=condition,
                number=options["n"],
                seed=options["seed"],
                in_queue=options["queue"],
                acting_user=None,
            )
        except PlanError as error:
            raise CommandError(str(error)) from error
        for qid in draw.topics:
            self.stdout.write(qid)
        self.stderr.write(f"Draw {before + 1} under {condition}: {draw}.")
        if draw.scored_models:
            self.stderr.write(f"Scores by a model were there already: {', '.join(draw.scored_models)}.")
