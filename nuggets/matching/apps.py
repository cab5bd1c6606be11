from django.apps import AppConfig


class MatchingConfig(AppConfig):
    name = "nuggets.matching"
    condition_kind = "nuggets.matching.condition_kind.MATCHING"
    job_kinds = ("nuggets.matching.match_job.MatchJob",)
