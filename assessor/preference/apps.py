from django.apps import AppConfig


class PreferenceConfig(AppConfig):
    name = "assessor.preference"
    label = "preference"
    condition_kind = "assessor.preference.label_kind.PREFERENCE"
    job_kinds = ("assessor.preference.pref_judge.PrefJudge",)

    def ready(self) -> None:
        from assessor.imports import importer
        from assessor.preference.loaders import PreferenceLoader
        from assessor.preference.models import PreferencePair

        # The conditions that come along, and their judges, are removed after them (see nuggets/apps.py).
        importer.register(PreferenceLoader, importer.brought(PreferencePair))
