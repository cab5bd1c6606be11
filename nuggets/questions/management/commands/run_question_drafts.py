from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model draft questions from relevant segments, for people to edit (AutoQuestions+Edits)."
    kind = "QuestionDrafts"
