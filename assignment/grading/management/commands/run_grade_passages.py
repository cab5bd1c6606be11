from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model grade how well passages answer the questions of finished banks (GradePassages)."
    kind = "GradePassages"
