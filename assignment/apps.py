from django.apps import AppConfig


class AssignmentConfig(AppConfig):
    name = "assignment"
    condition_kind = "assignment.label_kind.ASSIGNMENT"
    job_kinds = ("assignment.auto_assign.AutoAssign",)

    def ready(self) -> None:
        from assessor.campaigns.models import Condition
        from assessor.imports import importer
        from assignment.loaders import AssignmentLoader
        from assignment.models import AnswerSheet, Assignment, kinds

        importer.register(
            AssignmentLoader,
            importer.brought(Assignment, "sheet__import_record"),
            importer.brought(AnswerSheet),
            # Those of nuggets, which they point to, and the judges of both come after them (see nuggets/apps.py).
            lambda imports: Condition.everything.filter(import_record__in=imports, kind__in=kinds()),
        )
