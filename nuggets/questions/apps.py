from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "nuggets.questions"
    condition_kind = "nuggets.questions.condition_kind.QUESTIONS"
    job_kinds = tuple(
        f"nuggets.questions.auto_questions.{name}" for name in ("QueryQuestions", "AutoQuestions", "QuestionDrafts")
    )

    def ready(self) -> None:
        from assessor.imports import importer
        from nuggets.questions.loaders import QuestionLoader

        importer.register(QuestionLoader)
