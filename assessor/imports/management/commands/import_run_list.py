from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import runs.csv: team, task, type, priority, aliases and generators of runs."
    kind = "run_list"
