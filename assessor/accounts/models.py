"""People."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.functional import cached_property


class Person(AbstractUser):
    """Somebody who signs in. Administrators are Django's superusers; all other roles are in a campaign."""

    # Habits, that go along to another browser. The names of zones are those of the IANA database; none is UTC.
    time_zone = models.CharField(max_length=64, blank=True)
    language = models.CharField(max_length=8, blank=True, default="")
    keys = models.JSONField(default=dict, blank=True)  # of single characters: what a screen has: the person's own
    keys_off = models.BooleanField(default=False)
    mailed_when = models.JSONField(default=list, blank=True)  # kinds of events: see assessor.accounts.preferences
    link_until = models.DateTimeField(null=True, blank=True, editable=False)  # the end of their one-time link, if any
    link_starts_anew = models.BooleanField(default=False, editable=False)  # using it ends what the account had before

    deactivated_by_administrator = models.BooleanField(default=False, editable=False)  # so by no organizer let in again
    administrator_until = models.DateTimeField(null=True, blank=True, editable=False)  # when they last ceased to be one

    class Meta(AbstractUser.Meta):
        verbose_name = "person"
        verbose_name_plural = "people"

    @cached_property
    def role_names(self) -> frozenset[str]:
        """The roles that the person has now, in whatever campaigns."""
        return frozenset(self.memberships.filter(until=None).values_list("role", flat=True))
