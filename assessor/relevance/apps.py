from django.apps import AppConfig


class RelevanceConfig(AppConfig):
    name = "assessor.relevance"
    label = "relevance"
    condition_kind = "assessor.relevance.label_kind.RELEVANCE"
    job_kinds = ("assessor.relevance.umbrela.Umbrela",)
