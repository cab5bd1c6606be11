from django.apps import AppConfig


class GradingConfig(AppConfig):
    name = "assignment.grading"
    condition_kind = "assignment.grading.label_kind.GRADING"
    job_kinds = ("assignment.grading.auto_grade.AutoGrade",)
