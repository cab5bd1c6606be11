from django.apps import AppConfig


class WorkConfig(AppConfig):
    name = "assessor.work"
    label = "work"
