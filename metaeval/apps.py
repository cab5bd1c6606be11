from django.apps import AppConfig


class MetaevalConfig(AppConfig):
    name = "metaeval"
    condition_marks = "metaeval.calibrations.condition_marks"  # see assessor.scores.condition_marks
