from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import a retrieval run: topic, Q0, docid, rank, score, tag."
    kind = "retrieval"
