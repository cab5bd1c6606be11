from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "assessor.desk"
    label = "desk"
