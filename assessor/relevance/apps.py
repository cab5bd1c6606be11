from django.apps import AppConfig


class RelevanceConfig(AppConfig):
    name = "assessor.relevance"
    label = "relevance"

    def ready(self) -> None:
        from assessor.llm import kinds as jobs
        from assessor.relevance.kind import RELEVANCE
        from assessor.relevance.umbrela import Umbrela
        from assessor.work import kinds as tasks

        jobs.register(Umbrela())
        tasks.register(RELEVANCE)
