from django.apps import AppConfig

_FROM_ANSWERS = (
    *("PrefQuestions", "GroundedQuestions", "RandomPairQuestions"),
    *("PrefQuestionDrafts", "GroundedQuestionDrafts"),
)


class QuestionsConfig(AppConfig):
    name = "nuggets.questions"
    condition_kind = "nuggets.questions.condition_kind.QUESTIONS"
    job_kinds = (
        *(f"nuggets.questions.auto_questions.{name}" for name in ("QueryQuestions", "AutoQuestions", "QuestionDrafts")),
        *(f"nuggets.questions.answer_questions.{name}" for name in _FROM_ANSWERS),
    )

    def ready(self) -> None:
        from assessor.imports import importer
        from nuggets.questions.loaders import QuestionLoader

        importer.register(QuestionLoader)
