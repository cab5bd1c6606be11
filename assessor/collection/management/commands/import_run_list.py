from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import runs.csv: team, task, type, priority and aliases of runs."
    kind = "run_list"
