from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.api.forms import LONGEST
from assessor.api.models import Token


class Command(BaseCommand):
    help = "Make a token for a person's scripts, which ask the API. The secret is written to standard output, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="The name that the person signs in with.")
        parser.add_argument("name", help="What it is for.")
        parser.add_argument("--may", choices=Token.May.values, default=Token.May.READ, help="What it lets them do.")
        parser.add_argument("--days", type=int, help="How long it is good for; by default until it is revoked.")

    def handle(self, *args: Any, **options: Any) -> None:
        person = Person.objects.filter(username=options["person"], is_active=True).first()
        if person is None:
            raise CommandError(f"There is no active person {options['person']}.")
        days = options["days"]
        if days is not None and not 1 <= days <= LONGEST:
            raise CommandError(f"--days: found {days}, expected 1 to {LONGEST}.")
        expires_at = timezone.now() + timedelta(days=days) if days else None
        said = {"name": options["name"], "may": Token.May(options["may"]), "expires_at": expires_at}
        try:
            made = create_token(person=person, acting_user=None, **said)
        except ValidationError as error:
            raise CommandError(f"name: {' '.join(error.messages)}") from error
        self.stdout.write(made.secret)
