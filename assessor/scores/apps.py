from django.apps import AppConfig


class ScoresConfig(AppConfig):
    name = "assessor.scores"
    label = "scores"
