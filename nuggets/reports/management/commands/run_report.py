from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model read the relevant documents for each question of finished banks, for reports."
    kind = "Report"
