from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.llm.actions import JobError
from assessor.llm.carried_batches import read_carried
from assessor.llm.management.jobs import job_numbered


class Command(BaseCommand):
    help = "Read the answers to a file of write_batch, and go on with its job."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", type=int, help="The job's number.")
        parser.add_argument("files", nargs="+", type=Path, help="Files of answers and of errors.")

    def handle(self, *args: Any, **options: Any) -> None:
        job = job_numbered(options["job"])
        try:
            answered, unknown = read_carried(job, options["files"])
        except (JobError, OSError) as error:
            raise CommandError(str(error)) from error
        job.refresh_from_db()
        waiting = job.batch_requests.filter(batch=None, status=None).count()
        self.stdout.write(f"{answered:,} answered; the job is {job.get_state_display()}, {waiting:,} requests wait.")
        if unknown:
            self.stdout.write(f"{unknown:,} lines are no answers.")
