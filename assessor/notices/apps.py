from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "assessor.notices"
    label = "notices"

    def ready(self) -> None:
        from assessor.campaigns.models import Import
        from assessor.campaigns.signals import ended
        from assessor.llm.models import Job
        from assessor.notices.payloads import note
        from assessor.work.models import Task

        for sender in (Job, Import, Task):
            ended.connect(note, sender=sender)
