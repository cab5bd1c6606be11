from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "nuggets.questions"
    condition_kind = "nuggets.questions.condition_kind.QUESTIONS"
    job_kinds = ("nuggets.questions.auto_questions.QueryQuestions", "nuggets.questions.auto_questions.AutoQuestions")

    def ready(self) -> None:
        from assessor.imports import importer
        from nuggets.questions.loaders import QuestionLoader

        importer.register(QuestionLoader)
