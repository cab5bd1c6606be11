from django.apps import AppConfig


class CandidatesConfig(AppConfig):
    name = "nuggets.candidates"
    condition_kind = "nuggets.candidates.condition_kind.CANDIDATES"
    job_kinds = ("nuggets.candidates.candidates_job.CandidatesJob",)
