from django.apps import AppConfig


class TrialsConfig(AppConfig):
    name = "assignment.trials"
    condition_kind = "assignment.trials.condition_kind.TRIALS"
    job_kinds = ("assignment.trials.trial_job.TrialJob",)
