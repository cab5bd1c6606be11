from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model say which of two answers to a topic is better (PrefJudge)."
    kind = "PrefJudge"
