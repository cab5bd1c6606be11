from django.apps import AppConfig


class AssignmentConfig(AppConfig):
    name = "assignment"
    condition_kind = "assignment.label_kind.ASSIGNMENT"
    job_kinds = ("assignment.auto.AutoAssign",)

    def ready(self) -> None:
        from assessor.collection import importing
        from assessor.collection.models import Condition
        from assignment.loaders import AssignmentLoader
        from assignment.models import AnswerSheet, Assignment

        importing.register(
            AssignmentLoader,
            importing.brought(Assignment, "sheet__import_record"),
            importing.brought(AnswerSheet),
            # Those of nuggets, which they point to, and the judges of both come after them (see nuggets/apps.py).
            lambda imports: Condition.everything.filter(import_record__in=imports, kind="assignment"),
        )
