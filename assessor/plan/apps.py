from django.apps import AppConfig


class PlanConfig(AppConfig):
    name = "assessor.plan"

    def ready(self) -> None:
        from assessor.collection import importing
        from assessor.llm import following as jobs
        from assessor.plan.actions import follow_bank, follow_import, follow_job
        from assessor.plan.loaders import PlanLoader
        from nuggets import following

        following.register(follow_bank)
        importing.follow(follow_import)
        jobs.register(follow_job)
        importing.register(PlanLoader)
