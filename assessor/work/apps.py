from typing import Any

from django.apps import AppConfig
from django.apps import apps as all_apps
from django.db.models.signals import post_migrate


def _name_installation(apps: Any = all_apps, **_: Any) -> None:
    from assessor.work.models import Installation

    if "installation" in apps.all_models["work"]:  # else it was migrated back
        Installation.present()


class WorkConfig(AppConfig):
    name = "assessor.work"
    label = "work"

    def ready(self) -> None:
        post_migrate.connect(_name_installation, sender=self)
