from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.llm.actions import JobError
from assessor.llm.carried_batches import write_carried
from assessor.llm.management.jobs import job_numbered


class Command(BaseCommand):
    help = "Write the requests that a job waits for into a file, as OpenAI's Batch API and vLLM's run-batch take it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", type=int, help="The job's number.")
        parser.add_argument("file", type=Path, help="A new file.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            batch = write_carried(job_numbered(options["job"]), options["file"])
        except (JobError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{batch.requests_total:,} requests, about {batch.tokens_in:,} tokens.")
