from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model grade how well the answers answer the questions of finished banks (AutoGrade)."
    kind = "AutoGrade"
