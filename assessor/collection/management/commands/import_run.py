from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import a run's answers (JSONL, RAG24 form)."
    kind = "runs"
