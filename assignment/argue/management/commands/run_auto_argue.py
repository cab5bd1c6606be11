from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model judge reports sentence by sentence against the questions of finished banks (AutoArgue)."
    kind = "AutoArgue"
