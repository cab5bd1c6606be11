from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "assessor.llm"
    label = "llm"
    condition_marks = "assessor.llm.named_models.condition_marks"  # see assessor.scores.condition_marks
