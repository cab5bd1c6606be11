from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "assessor.studies"
    label = "studies"
    condition_marks = "assessor.studies.panels.condition_marks"  # see assessor.scores.condition_marks

    def ready(self) -> None:
        from assessor.llm.signals import job_launching, job_worked_on
        from assessor.studies.control_sets import check_job, refuse_beside_alarm

        job_worked_on.connect(check_job)
        job_launching.connect(refuse_beside_alarm)
