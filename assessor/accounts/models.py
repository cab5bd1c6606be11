"""People, and their second factors."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.functional import cached_property

from assessor.runtime.fields import JSONText


class Person(AbstractUser):
    """Somebody who signs in. Administrators are Django's superusers; all other roles are in a campaign."""

    # Habits, that go along to another browser. The names of zones are those of the IANA database; none is UTC.
    time_zone = models.CharField(max_length=64, blank=True)
    keys = models.JSONField(default=dict, blank=True)  # of single characters: what a screen has: the person's own
    keys_off = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        verbose_name = "person"
        verbose_name_plural = "people"

    @cached_property
    def role_names(self) -> frozenset[str]:
        """The roles that the person has now, in whatever campaigns."""
        return frozenset(self.memberships.filter(until=None).values_list("role", flat=True))


class SecondFactor(models.Model):
    """What an app and a list of recovery codes prove beside the password. Whose is set up is asked at each sign-in."""

    person = models.OneToOneField("accounts.Person", models.PROTECT, related_name="second_factor")
    since = models.DateTimeField(auto_now_add=True)
    secret = models.CharField(max_length=300, editable=False, help_text="Of the app, encrypted.")
    recovery = JSONText(default=list, editable=False, help_text="sha256 of each recovery code that is left.")
    # A code is good once: none is taken for a step of time that is not after this one.
    last_step = models.BigIntegerField(default=0, editable=False)
    failures = models.PositiveSmallIntegerField(default=0, editable=False, help_text="Wrong codes in a row.")
    failed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("person__username",)

    def __str__(self) -> str:
        return f"second factor of {self.person}"
