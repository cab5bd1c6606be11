from assessor.collection.management.importing import GradesCommand


class Command(GradesCommand):
    help = "Import segments (JSONL), with the grades that a request's candidates carry."
    kind = "segments"
