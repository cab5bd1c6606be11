from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import passages to be graded by questions (JSONL: query_id, doc_id, passage)."
    kind = "passages"
