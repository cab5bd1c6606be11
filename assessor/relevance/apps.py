from django.apps import AppConfig


class RelevanceConfig(AppConfig):
    name = "assessor.relevance"
    label = "relevance"
    condition_kind = "assessor.relevance.label_kind.RELEVANCE"

    def ready(self) -> None:
        from assessor.llm import kinds as jobs
        from assessor.relevance.umbrela import Umbrela

        jobs.register(Umbrela())
