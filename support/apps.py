from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"

    def ready(self) -> None:
        from assessor.scores import kinds as scores
        from support.tables import SupportScores

        scores.register(SupportScores())
