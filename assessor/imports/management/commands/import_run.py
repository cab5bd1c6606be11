from argparse import ArgumentParser

from assessor.imports.loaders.documents import OWN
from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import a run's answers (JSONL of RAG24, RAG25, RAG26 or RAGTIME), and the documents that came with them."
    kind = "runs"
    loader_options = ("document_texts",)

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--document-texts",
            choices=(OWN,),
            help="Keep the texts of documents as the run's own, for its citations alone, in the place of new segments.",
        )
