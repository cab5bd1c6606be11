from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import a run's answers (JSONL of RAG24, RAG25, RAG26 or RAGTIME), and the segments that came with them."
    kind = "runs"
