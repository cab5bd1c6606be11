"""The append-only history."""

from typing import Any, NoReturn

from django.db import models

from assessor.runtime.fields import JSONText


class AppendOnlyError(TypeError):
    """Somebody tried to change or remove a record that is only ever added to."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    def _refuse(self) -> NoReturn:
        raise AppendOnlyError(f"{self.model.__name__} records are only ever added.")

    def update(self, **kwargs: Any) -> NoReturn:
        self._refuse()

    def delete(self) -> NoReturn:
        self._refuse()

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("update_conflicts"):
            self._refuse()
        return super().bulk_create(*args, **kwargs)

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse()

    def update_or_create(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse()


class AppendOnly(models.Model):
    """A record that is written once: neither changed nor deleted afterwards."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} records are only ever added.")
        # A record made with a known id must not overwrite the one that has it.
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError(f"{type(self).__name__} records are only ever added.")


class Event(AppendOnly):
    """Something that happened: who did what to which record, and when."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, null=True, related_name="events")
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True)
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=300)
    details = JSONText(default=dict)

    class Meta(AppendOnly.Meta):
        ordering = ("-pk",)
        indexes = (models.Index(fields=("campaign", "-id")),)

    def __str__(self) -> str:
        return f"{self.verb}: {self.subject}"
