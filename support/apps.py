from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"
    condition_kind = "support.label_kind.SUPPORT"

    def ready(self) -> None:
        from assessor.collection import importing, joining
        from assessor.llm import kinds as jobs
        from support.actions import follow_citations, follow_texts, judged_docids
        from support.auto import Support
        from support.loaders import SupportLoader
        from support.models import SupportJudgment, SupportSheet

        jobs.register(Support())
        joining.register(follow_citations)
        joining.follow_texts(joining.TextFollower(judged_docids, follow_texts))
        # The conditions that come along, and their judges, are removed after them (see nuggets/apps.py).
        importing.register(
            SupportLoader,
            importing.brought(SupportJudgment, "sheet__import_record"),
            importing.brought(SupportSheet),
        )
