from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_organizer, create_campaign
from assessor.campaigns.models import Campaign


class Command(BaseCommand):
    help = "Create an empty campaign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="Its short name, for addresses and commands.")
        parser.add_argument("--name", help="Its full name; by default the short one.")
        parser.add_argument("--organizer", action="append", default=[], help="User name; may be given again.")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["campaign"]
        if Campaign.objects.filter(slug=slug).exists():
            raise CommandError(f"There is a campaign {slug} already.")
        people = {person.username: person for person in Person.objects.filter(username__in=options["organizer"])}
        if unknown := sorted(set(options["organizer"]) - people.keys()):
            raise CommandError(f"There is nobody called {', '.join(unknown)}.")
        try:
            campaign = create_campaign(name=options["name"] or slug, slug=slug, acting_user=None)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        for person in people.values():
            add_organizer(campaign=campaign, person=person, acting_user=None)
        self.stdout.write(f"Created {campaign}.")
