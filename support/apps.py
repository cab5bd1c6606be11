from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"

    def ready(self) -> None:
        from assessor.llm import kinds as jobs
        from assessor.scores import kinds as scores
        from support.auto import Support
        from support.tables import SupportScores

        jobs.register(Support())
        scores.register(SupportScores())
