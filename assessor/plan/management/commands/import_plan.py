from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import plan.csv: which topics, under which conditions, for whom, and which runs are judged."
    kind = "plan"
