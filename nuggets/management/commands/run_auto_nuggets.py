from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model make nugget banks from relevant segments (AutoNuggets)."
    kind = "AutoNuggets"
