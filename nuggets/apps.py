from django.apps import AppConfig


class NuggetsConfig(AppConfig):
    name = "nuggets"
    condition_kind = "nuggets.condition_kind.NUGGETS"
    job_kinds = ("nuggets.auto_nuggets.AutoNuggets", "nuggets.auto_nuggets.Drafts")

    def ready(self) -> None:
        from assessor.campaigns.models import Condition, Judge
        from assessor.imports import importer
        from nuggets.former_banks import FormerBankLoader
        from nuggets.loaders import DraftLoader, NuggetLoader
        from nuggets.models import Drafting, Nugget, NuggetBank

        importer.register(DraftLoader)
        importer.register(FormerBankLoader)
        importer.register(
            NuggetLoader,
            importer.brought(Nugget, "bank__import_record"),
            importer.brought(NuggetBank),
            importer.brought(Drafting),
            importer.brought(Condition),
            # Made in one transaction with its condition: without one, the condition has just been removed.
            lambda imports: Judge.objects.filter(kind=Judge.Kind.IMPORTED, condition=None),
        )
