from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model draft questions from better and worse answers, for people to edit."
    kind = "PrefQuestionDrafts"
