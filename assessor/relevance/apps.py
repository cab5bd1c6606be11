from django.apps import AppConfig


class RelevanceConfig(AppConfig):
    name = "assessor.relevance"
    label = "relevance"
    job_kinds = ("assessor.relevance.umbrela.Umbrela",)

    def ready(self) -> None:
        from assessor.relevance.kind import RELEVANCE
        from assessor.work import kinds as tasks

        tasks.register(RELEVANCE)
