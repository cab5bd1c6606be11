from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.llm.actions import JobError, resume, retry_failed
from assessor.llm.management.jobs import follow, job_numbered


class Command(BaseCommand):
    help = "Work on a job in this process, beside any workers, until it is over."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", type=int, help="The job's number.")
        parser.add_argument("--resume", action="store_true", help="Let a paused or halted job go on first.")
        parser.add_argument("--retry-failed", action="store_true", help="Have failed units done again.")

    def handle(self, *args: Any, **options: Any) -> None:
        job = job_numbered(options["job"])
        try:
            if options["retry_failed"]:
                retry_failed(job=job, acting_user=None)
            if options["resume"]:
                resume(job=job, acting_user=None)
        except JobError as error:
            raise CommandError(str(error)) from error
        follow(self, job, here=True)
