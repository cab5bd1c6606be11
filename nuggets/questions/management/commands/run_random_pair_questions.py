from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model make banks of questions from random pairs of answers, to compare with."
    kind = "RandomPairQuestions"
