from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "assessor.studies"
    label = "studies"
