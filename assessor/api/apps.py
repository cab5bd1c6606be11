from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "assessor.api"
    label = "api"

    def ready(self) -> None:
        from assessor.api.actions import revoke_all
        from assessor.collection.leaving import when_leaving

        when_leaving(revoke_all)
