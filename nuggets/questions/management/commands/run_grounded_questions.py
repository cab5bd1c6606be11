from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model make banks of questions from the answers that were preferred."
    kind = "GroundedQuestions"
