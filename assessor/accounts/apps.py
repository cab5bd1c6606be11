from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "assessor.accounts"
    label = "accounts"

    def ready(self) -> None:
        from assessor.accounts import receivers  # noqa: F401
