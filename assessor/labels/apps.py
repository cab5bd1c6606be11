from django.apps import AppConfig


class LabelsConfig(AppConfig):
    name = "assessor.labels"
    label = "labels"
