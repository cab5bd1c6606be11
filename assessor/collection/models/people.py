"""People."""

from django.contrib.auth.models import AbstractUser


class Person(AbstractUser):
    """Somebody who logs in. Their role is the group they are in (roles.py)."""
