from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model make banks of questions from pairs of a better and a worse answer (PrefNugget)."
    kind = "PrefQuestions"
