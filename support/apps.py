from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"

    def ready(self) -> None:
        from assessor.collection import importing, joining
        from support.actions import follow_citations
        from support.loaders import SupportLoader
        from support.models import SupportSheet

        joining.register(follow_citations)
        # The conditions that come along, and their judges, are removed after them (see nuggets/apps.py).
        importing.register(SupportLoader, importing.brought(SupportSheet))
