from assessor.imports.management.import_command import GradesCommand


class Command(GradesCommand):
    help = "Import relevance judgments (qrels) under a named source."
    kind = "qrels"
