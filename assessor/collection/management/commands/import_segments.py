from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import segments (JSONL), with the grades that a request's candidates carry."
    kind = "segments"
    takes_source = True
