from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model draft questions from preferred answers, for people to edit."
    kind = "GroundedQuestionDrafts"
