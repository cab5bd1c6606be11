from django.apps import AppConfig


class MetaevalConfig(AppConfig):
    name = "metaeval"
    condition_mark = "metaeval.calibrations.condition_mark"  # see assessor.scores.condition_marks
