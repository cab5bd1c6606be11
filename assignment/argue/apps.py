from django.apps import AppConfig


class ArgueConfig(AppConfig):
    name = "assignment.argue"
    condition_kind = "assignment.argue.label_kind.ARGUE"
    job_kinds = ("assignment.argue.auto_argue.AutoArgue",)

    def ready(self) -> None:
        from assessor.imports import importer
        from assignment.argue.loaders import ArgueLoader
        from assignment.argue.models import ArgueJudgment, ArgueSheet

        importer.register(
            ArgueLoader,
            importer.brought(ArgueJudgment, "sheet__import_record"),
            importer.brought(ArgueSheet),
        )
