from assessor.llm.management.jobs import LaunchCommand


class Command(LaunchCommand):
    help = "Have a model draft nuggets for people to edit (AutoNuggets+Edits)."
    kind = "Drafts"
