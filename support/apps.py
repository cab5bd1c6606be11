from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"

    def ready(self) -> None:
        from assessor.work import kinds as tasks
        from support.kind import SUPPORT

        tasks.register(SUPPORT)
