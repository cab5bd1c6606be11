from argparse import ArgumentParser

from assessor.imports.loaders.conditions import MAKERS
from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import support judgments (JSONL, NIST's form) under a condition of their own."
    kind = "support"
    loader_options = ("condition", "by", "invalid_labels")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The imported labels' condition, new or known.")
        parser.add_argument("--by", choices=MAKERS, required=True, help="Who gave these labels.")
        parser.add_argument("--invalid-labels", choices=("missing",), help="What labels that are none become.")
