from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "assessor.exports"
    label = "exports"
