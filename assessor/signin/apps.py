from django.apps import AppConfig


class SigninConfig(AppConfig):
    name = "assessor.signin"
    label = "signin"
