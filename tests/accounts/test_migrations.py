"""What the migration of a database in use takes from its history."""

from importlib import import_module

from django.apps import apps

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from tests.conftest import make_person


def test_it_fills_who_made_people_inactive_and_who_was_an_administrator(empty_campaign: Campaign):
    people = {name: make_person(name) for name in ("by_organizer", "by_admin", "back", "renamed", "was_admin")}
    for name, campaign in [
        ("by_admin", empty_campaign),
        ("by_admin", None),
        ("by_organizer", None),
        ("by_organizer", empty_campaign),
        ("back", None),
    ]:
        history.record("person made inactive", people[name], campaign=campaign, person=None)
    Person.objects.filter(username__in=("by_organizer", "by_admin", "renamed")).update(is_active=False)
    removed = [history.record("administrator removed", "was_admin", campaign=None, person=None) for _ in range(2)]
    import_module("assessor.accounts.migrations.0002_former_administrators").fill_from_history(apps, None)
    found = Person.objects.exclude(username="olga").values_list(
        "username", "deactivated_by_administrator", "administrator_until"
    )
    assert set(found) == {
        ("by_organizer", False, None),
        ("by_admin", True, None),
        ("back", False, None),
        ("renamed", True, None),
        ("was_admin", False, removed[1].at),
    }
