from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "assessor.studies"
    label = "studies"
    condition_marks = "assessor.studies.panels.condition_marks"  # see assessor.scores.condition_marks
