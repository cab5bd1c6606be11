from argparse import ArgumentParser

from assessor.imports.loaders.conditions import MAKERS
from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import judgments of reports (AUTO-ARGUE's *.judgments.jsonl) under a condition of their own."
    kind = "argue_judgments"
    loader_options = ("condition", "nuggets", "by")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The imported judgments' condition, new or known.")
        parser.add_argument(
            "--nuggets", required=True, help="The condition of the questions, whose banks are finished."
        )
        parser.add_argument("--by", choices=MAKERS, required=True, help="Who gave these judgments.")
