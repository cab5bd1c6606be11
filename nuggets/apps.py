from django.apps import AppConfig


class NuggetsConfig(AppConfig):
    name = "nuggets"
    condition_kind = "nuggets.condition_kind.NUGGETS"
    job_kinds = ("nuggets.auto.AutoNuggets", "nuggets.auto.Drafts")

    def ready(self) -> None:
        from assessor.collection import importing
        from assessor.collection.models import Condition, Judge
        from nuggets.loaders import DraftLoader, NuggetLoader
        from nuggets.models import Drafting, Nugget, NuggetBank

        importing.register(DraftLoader)
        importing.register(
            NuggetLoader,
            importing.brought(Nugget, "bank__import_record"),
            importing.brought(NuggetBank),
            importing.brought(Drafting),
            importing.brought(Condition),
            # Made in one transaction with its condition: without one, the condition has just been removed.
            lambda imports: Judge.objects.filter(kind=Judge.Kind.IMPORTED, condition=None),
        )
