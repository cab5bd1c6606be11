from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"

    def ready(self) -> None:
        from assessor.llm import kinds as jobs
        from support.auto import Support

        jobs.register(Support())
