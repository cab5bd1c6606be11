"""The three roles, each a group; who is what decides what they may open."""

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import AnonymousUser, Group, Permission

from assessor.accounts.models import Person

ASSESSOR, ORGANIZER, ADMINISTRATOR = "assessor", "organizer", "administrator"
ROLES = (ASSESSOR, ORGANIZER, ADMINISTRATOR)


def make_groups(using: str) -> None:
    """Make the three groups; administrators hold every permission of the admin, the others none."""
    for app in apps.get_app_configs():
        create_permissions(app, verbosity=0, using=using)
    for role in ROLES:
        group, _ = Group.objects.using(using).get_or_create(name=role)
        if role == ADMINISTRATOR:
            group.permissions.set(Permission.objects.using(using).all())


def has_role(person: Person | AnonymousUser, role: str) -> bool:
    """Say whether an active person has a role; a superuser counts as administrator only."""
    if not person.is_authenticated or not person.is_active:
        return False
    return role in person.role_names or (role == ADMINISTRATOR and person.is_superuser)
