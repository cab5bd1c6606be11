from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign
from assessor.campaigns.models import Campaign, Role


class Command(BaseCommand):
    help = "Create an empty campaign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="Its short name, for addresses and commands.")
        parser.add_argument("--name", help="Its full name; by default the short one.")
        for role in Role:
            parser.add_argument(f"--{role}", action="append", default=[], help="User name; may be given again.")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["campaign"]
        if Campaign.objects.filter(slug=slug).exists():
            raise CommandError(f"There is a campaign {slug} already.")
        names = {name for role in Role for name in options[role]}
        people = {person.username: person for person in Person.objects.filter(username__in=names)}
        if unknown := sorted(names - people.keys()):
            raise CommandError(f"There is nobody called {', '.join(unknown)}.")
        try:
            with transaction.atomic():
                campaign = create_campaign(name=options["name"] or slug, slug=slug, acting_user=None)
                for role in Role:
                    for name in dict.fromkeys(options[role]):
                        add_member(campaign=campaign, person=people[name], role=role, acting_user=None)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"Created {campaign}.")
