from django.apps import AppConfig


class GradingConfig(AppConfig):
    name = "assignment.grading"
    condition_kind = "assignment.grading.label_kind.GRADING"
    job_kinds = ("assignment.grading.auto_grade.AutoGrade", "assignment.grading.auto_grade.GradePassages")

    def ready(self) -> None:
        from assessor.imports import importer
        from assignment.grading.loaders import GradeLoader, PassageLoader

        importer.register(PassageLoader)
        importer.register(GradeLoader)  # what it brings is removed as what assignments bring
