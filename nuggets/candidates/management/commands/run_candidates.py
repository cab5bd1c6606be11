from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model say which nuggets of finished banks each supported sentence of answers states."
    kind = "AutoCandidates"
