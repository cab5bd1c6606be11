"""The second factor of a person."""

from django.db import models

from assessor.collection.fields import JSONText


class SecondFactor(models.Model):
    """What an app and a list of recovery codes prove beside the password. Whose is set up is asked at each sign-in."""

    person = models.OneToOneField("collection.Person", models.PROTECT, related_name="second_factor")
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
