"""People."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.functional import cached_property


class Person(AbstractUser):
    """Somebody who logs in. Their role is the group they are in (roles.py)."""

    # Habits, that go along to another browser. The names of zones are those of the IANA database; none is UTC.
    time_zone = models.CharField(max_length=64, blank=True)
    keys = models.JSONField(default=dict, blank=True)  # of single characters: what a screen has: the person's own
    keys_off = models.BooleanField(default=False)
    link_until = models.DateTimeField(null=True, blank=True, editable=False)  # the end of their one-time link, if any

    class Meta(AbstractUser.Meta):
        verbose_name = "person"
        verbose_name_plural = "people"

    @cached_property
    def role_names(self) -> frozenset[str]:
        """The names of the person's groups."""
        return frozenset(self.groups.values_list("name", flat=True))
