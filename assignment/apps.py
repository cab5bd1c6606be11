from django.apps import AppConfig


class AssignmentConfig(AppConfig):
    name = "assignment"
    job_kinds = ("assignment.auto.AutoAssign",)

    def ready(self) -> None:
        from assessor.collection import importing, joining
        from assessor.collection.models import Condition
        from assessor.scores import kinds as scores
        from assessor.studies import kinds as studies
        from assessor.work import kinds as tasks
        from assignment.actions import follow_edition, follow_sentences
        from assignment.kind import ASSIGNMENT
        from assignment.loaders import AssignmentLoader
        from assignment.models import AnswerSheet, Assignment
        from assignment.studies import NuggetStudies
        from assignment.tables import NuggetScores
        from nuggets import following

        tasks.register(ASSIGNMENT)
        studies.register(NuggetStudies())
        scores.register(NuggetScores())
        following.register(follow_edition)
        joining.register(follow_sentences)
        importing.register(
            AssignmentLoader,
            importing.brought(Assignment, "sheet__import_record"),
            importing.brought(AnswerSheet),
            # Those of nuggets, which they point to, and the judges of both come after them (see nuggets/apps.py).
            lambda imports: Condition.everything.filter(import_record__in=imports, kind=Condition.Kind.ASSIGNMENT),
        )
