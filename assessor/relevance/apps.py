from django.apps import AppConfig


class RelevanceConfig(AppConfig):
    name = "assessor.relevance"
    label = "relevance"
