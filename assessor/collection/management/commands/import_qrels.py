from assessor.collection.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import relevance judgments (qrels) under a named source."
    kind = "qrels"
    takes_source = True
