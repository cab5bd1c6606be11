from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "assessor.llm"
    label = "llm"
    condition_mark = "assessor.llm.named_models.condition_mark"  # see assessor.scores.condition_marks
