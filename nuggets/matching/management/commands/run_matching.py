from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model match the nuggets of two finished banks of each topic."
    kind = "AutoMatch"
