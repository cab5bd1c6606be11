from typing import Any

from django.apps import AppConfig
from django.core.management import CommandError
from django.db import connections
from django.db.models.signals import pre_migrate


class CampaignsConfig(AppConfig):
    name = "assessor.campaigns"
    label = "campaigns"

    def ready(self) -> None:
        pre_migrate.connect(_refuse_other_versions, sender=self)


def _refuse_other_versions(**kwargs: Any) -> None:
    """Leave alone a database whose tables were made by migrations that are not here: Django would not notice."""
    from django.db.migrations.loader import MigrationLoader

    app: AppConfig = kwargs["sender"]
    loader = MigrationLoader(connections[kwargs["using"]])
    # "collection" is what this app was called before November 2026.
    ours = (app.label, "collection")
    unknown = sorted(key for key in loader.applied_migrations.keys() - loader.disk_migrations.keys() if key[0] in ours)
    if unknown:
        raise CommandError(
            "This database was made by another version of Assay, "
            f"which has the migration {unknown[0][1]} of {unknown[0][0]}. "
            "Use that version, or start with an empty database or data folder."
        )
