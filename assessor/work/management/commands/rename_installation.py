from typing import Any

from django.core.management.base import BaseCommand

from assessor.work.models import Installation


class Command(BaseCommand):
    help = (
        "Give this database a new name, after it was restored from a dump. Pages opened before ask to be loaded again, "
        "and show what a browser kept for the former name as not sent."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"This database is {Installation.rename()} now.")
