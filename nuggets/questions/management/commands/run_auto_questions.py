from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model make banks of questions from relevant segments (AutoQuestions)."
    kind = "AutoQuestions"
