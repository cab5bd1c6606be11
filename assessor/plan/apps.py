from django.apps import AppConfig


class PlanConfig(AppConfig):
    name = "assessor.plan"

    def ready(self) -> None:
        from assessor.campaigns.signals import import_done
        from assessor.imports import importer
        from assessor.llm.signals import job_worked_on
        from assessor.plan.actions import follow_bank, follow_import, follow_job
        from assessor.plan.loaders import PlanLoader
        from nuggets.signals import bank_finished

        bank_finished.connect(follow_bank)
        import_done.connect(follow_import)
        job_worked_on.connect(follow_job)
        importer.register(PlanLoader)
