"""People."""

from django.contrib.auth.models import AbstractUser
from django.utils.functional import cached_property


class Person(AbstractUser):
    """Somebody who logs in. Their role is the group they are in (roles.py)."""

    @cached_property
    def role_names(self) -> frozenset[str]:
        """The names of the person's groups."""
        return frozenset(self.groups.values_list("name", flat=True))
