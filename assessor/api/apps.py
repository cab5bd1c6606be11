from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "assessor.api"
    label = "api"

    def ready(self) -> None:
        from assessor.accounts.deactivation import when_leaving
        from assessor.api.actions import revoke_all

        when_leaving(revoke_all)
