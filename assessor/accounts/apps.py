from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "assessor.accounts"
    label = "accounts"
