from argparse import ArgumentParser

from assessor.imports.loaders.conditions import MAKERS
from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import preferences between runs' answers (*.preferences.jsonl) under a condition of their own."
    kind = "preferences"
    loader_options = ("condition", "by")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The imported preferences' condition, new or known.")
        parser.add_argument("--by", choices=MAKERS, required=True, help="Who gave these preferences.")
