from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "support"
    job_kinds = ("support.auto.Support",)

    def ready(self) -> None:
        from assessor.collection import importing, joining
        from assessor.scores import kinds as scores
        from assessor.studies import kinds as studies
        from assessor.work import kinds as tasks
        from support.actions import follow_citations, follow_texts, judged_docids
        from support.kind import SUPPORT
        from support.loaders import SupportLoader
        from support.models import SupportJudgment, SupportSheet
        from support.studies import SupportStudies
        from support.tables import SupportScores

        studies.register(SupportStudies())
        tasks.register(SUPPORT)
        scores.register(SupportScores())
        joining.register(follow_citations)
        joining.follow_texts(joining.TextFollower(judged_docids, follow_texts))
        # The conditions that come along, and their judges, are removed after them (see nuggets/apps.py).
        importing.register(
            SupportLoader,
            importing.brought(SupportJudgment, "sheet__import_record"),
            importing.brought(SupportSheet),
        )
