from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model say how far cited passages support the sentences of answers."
    kind = "Support"
