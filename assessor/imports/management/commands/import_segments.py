from assessor.imports.management.import_command import GradesCommand


class Command(GradesCommand):
    help = "Import segments (JSONL), with the grades that a request's candidates carry."
    kind = "segments"
