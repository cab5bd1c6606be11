from argparse import ArgumentParser

from assessor.imports.loaders.conditions import MAKERS
from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import nuggets of a former edition (JSONL), for people to edit (Inherited+Edits)."
    kind = "former_nuggets"
    loader_options = ("condition", "qrels", "edition", "edition_date", "by", "invalid_labels")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The condition under which people edit them, new.")
        parser.add_argument("--qrels", required=True, help="People's grades, by which the editor shows passages.")
        parser.add_argument("--edition", required=True, help="The edition that they come from, such as TREC RAG 2024.")
        parser.add_argument("--edition-date", required=True, help="When they were made: 2024, 2024-08 or 2024-08-31.")
        parser.add_argument("--by", required=True, choices=MAKERS, help="Who made them there.")
        parser.add_argument(
            "--invalid-labels", choices=("missing",), help="What an importance other than vital or okay becomes."
        )
