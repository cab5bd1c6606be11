from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import topics: TSV or JSONL."
    kind = "topics"
