from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.llm.actions import JobError
from assessor.llm.management.jobs import follow
from assessor.studies.control_sets import ask, check, control_sets_of, plan_pass
from assessor.studies.models import ControlCheck


class Command(BaseCommand):
    help = "Ask a judge's control set again, and say whether the judge labels otherwise than before."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("name", help="The control set's name.")
        parser.add_argument("--estimate", action="store_true", help="Only say what it would take.")
        parser.add_argument("--here", action="store_true", help="Run it in this process, without a worker.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        control = named(control_sets_of(campaign), "study__name", options["name"], "control set")
        try:
            estimate = plan_pass(control).estimate
            self.stdout.write(f"About {estimate['calls']:,} calls, cost {estimate['cost']}.")
            if options["estimate"]:
                return
            job = ask(control=control, acting_user=None, to_workers=not options["here"])
        except JobError as error:
            raise CommandError(str(error)) from error
        follow(self, job, here=options["here"])
        check(job)
        found = ControlCheck.objects.get(condition=job.condition_id)
        p = "" if found.p is None else f", p = {found.p:.4g}"
        self.stdout.write(f"{found.flips:,} of {found.labels:,} labels differ from the first ones{p}.")
        if found.is_alarm:
            raise CommandError("Alarm: the judge labels otherwise than before.")
