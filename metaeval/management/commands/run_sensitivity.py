from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.campaigns.models import Campaign
from assessor.labels.label_kind import label_kind
from assessor.llm.actions import JobError
from assessor.llm.management.jobs import follow
from assessor.llm.prompt_sets import OWN
from assessor.studies.actions import StudyError
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import BANK, BATCH, JUDGE, ORDER, ORDERS, PROMPT_SET, REPLICATE
from assessor.studies.sensitivity_actions import (
    RUNS,
    TOPICS,
    draw_sensitivity,
    launch_variants,
    plan_variants,
    total_estimate,
    variant_kinds,
)


class Command(BaseCommand):
    help = (
        "Have a judge label the same sample in several ways, a job each. The first level of a factor is the base's. "
        "A study of this name goes on as it was drawn."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("name", help="The study's name.")
        parser.add_argument("--nuggets", help="The condition of the finished nuggets.")
        parser.add_argument("--judges", nargs="+", default=[], help="The judges' names.")
        parser.add_argument("--prompt-sets", nargs="+", default=[OWN], help="The prompt sets' names.")
        parser.add_argument(
            "--batches", nargs="+", type=int, help="Nuggets in a call; by default as the protocol says."
        )
        parser.add_argument("--orders", nargs="+", default=[BANK], choices=ORDERS, help="Orders of nuggets.")
        parser.add_argument("--repetitions", type=int, default=2, help="How often each is asked.")
        parser.add_argument("--topics", type=int, default=TOPICS, help="Topics to draw.")
        parser.add_argument("--runs", type=int, default=RUNS, help="Runs to draw.")
        parser.add_argument("--seed", type=int, help="Decides what is drawn; by default a new one, which is recorded.")
        parser.add_argument("--most-calls", type=int, help="Budget of calls of each job.")
        parser.add_argument("--most-cost", type=Decimal, help="Budget of money of each job.")
        parser.add_argument("--estimate", action="store_true", help="Only say what it would take; the sample is kept.")
        parser.add_argument("--here", action="store_true", help="Run the jobs in this process, without a worker.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        try:
            study = campaign.sensitivities.filter(name=options["name"]).first() or _drawn(campaign, options)
            plans = plan_variants(study)
            for plan in plans.values():
                told = plan.estimate
                self.stdout.write(f"{plan.condition}: {told['calls']:,} calls, cost {told['cost']}")
            total = total_estimate(plans)
            self.stdout.write(f"All together about {total['calls']:,} calls, cost {total['cost']}.")
            if options["estimate"]:
                return
            budget = {name: options[name] for name in ("most_calls", "most_cost")}
            jobs = launch_variants(plans, **budget, acting_user=None, to_workers=not options["here"])
        except (StudyError, JobError) as error:
            raise CommandError(str(error)) from error
        for job in jobs:
            follow(self, job, here=options["here"])


def _drawn(campaign: Campaign, options: dict[str, Any]) -> Sensitivity:
    if not options["nuggets"]:
        raise CommandError(f"There is no study {options['name']} yet: name the --nuggets to draw its sample.")
    setting = label_kind(variant_kinds()[0]).batch_setting
    factors = {
        JUDGE: options["judges"],
        PROMPT_SET: options["prompt_sets"],
        BATCH: options["batches"] or [getattr(campaign.protocol, setting)],
        ORDER: options["orders"],
        REPLICATE: list(range(options["repetitions"])),
    }
    return draw_sensitivity(
        nuggets=named(campaign.conditions.all(), "name", options["nuggets"], "condition"),
        factors=factors,
        **{name: options[name] for name in ("name", "topics", "runs", "seed")},
        acting_user=None,
    )
