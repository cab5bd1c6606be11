from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "assessor.llm"
    label = "llm"
