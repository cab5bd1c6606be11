from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import topics: TSV or JSONL."
    kind = "topics"
