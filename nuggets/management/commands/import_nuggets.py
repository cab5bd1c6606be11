from argparse import ArgumentParser

from assessor.imports.loaders.conditions import MAKERS
from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import nugget banks (JSONL, plain or with lineage) under a condition of their own."
    kind = "nuggets"
    loader_options = ("condition", "by", "invalid_labels")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The imported nuggets' condition, new or known.")
        parser.add_argument("--by", choices=MAKERS, required=True, help="Who made these nuggets.")
        parser.add_argument(
            "--invalid-labels", choices=("missing",), help="What an importance other than vital or okay becomes."
        )
