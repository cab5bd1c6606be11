from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import runs.csv: team, task, type, priority and aliases of runs."
    kind = "run_list"
