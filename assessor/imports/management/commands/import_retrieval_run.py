from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import a retrieval run: topic, Q0, docid, rank, score, tag."
    kind = "retrieval"
