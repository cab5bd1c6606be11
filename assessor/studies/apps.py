from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "assessor.studies"
    label = "studies"
    condition_marks = "assessor.studies.panels.condition_marks"  # see assessor.scores.condition_marks

    def ready(self) -> None:
        from assessor.llm.signals import job_launching, job_worked_on
        from assessor.studies.control_sets import refuse_beside_alarm
        from assessor.studies.tasks import check_job

        job_worked_on.connect(check_job)
        job_launching.connect(refuse_beside_alarm)
