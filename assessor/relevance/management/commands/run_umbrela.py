from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model grade the pooled segments (UMBRELA)."
    kind = "UMBRELA"
