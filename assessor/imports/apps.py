from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "assessor.imports"
    label = "imports"
