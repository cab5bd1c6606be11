from assessor.collection.management.importing import GradesCommand


class Command(GradesCommand):
    help = "Import relevance judgments (qrels) under a named source."
    kind = "qrels"
