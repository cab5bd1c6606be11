from django.apps import AppConfig


class MetaevalConfig(AppConfig):
    name = "metaeval"
