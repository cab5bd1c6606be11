from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CollectionConfig(AppConfig):
    name = "assessor.collection"
    label = "collection"

    def ready(self) -> None:
        # Permissions exist only once every app is migrated, so the roles get theirs then.
        post_migrate.connect(_grant_roles, sender=self)


def _grant_roles(**kwargs: Any) -> None:
    from assessor.collection.roles import make_groups

    make_groups(kwargs["using"])
