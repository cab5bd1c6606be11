from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"
    condition_kind = "support.label_kind.SUPPORT"
    job_kinds = ("support.auto_support.Support",)

    def ready(self) -> None:
        from assessor.imports import importer
        from support.loaders import SupportLoader
        from support.models import SupportJudgment, SupportSheet

        # The conditions that come along, and their judges, are removed after them (see nuggets/apps.py).
        importer.register(
            SupportLoader,
            importer.brought(SupportJudgment, "sheet__import_record"),
            importer.brought(SupportSheet),
        )
