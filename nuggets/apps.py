from django.apps import AppConfig


class NuggetsConfig(AppConfig):
    name = "nuggets"

    def ready(self) -> None:
        from assessor.work.kinds import register
        from nuggets.kind import NUGGETS

        register(NUGGETS)
