from argparse import ArgumentParser

from assessor.imports.loaders.conditions import MAKERS
from assessor.imports.management.import_command import ImportCommand
from assignment.formats import NOT_SUPPORT


class Command(ImportCommand):
    help = "Import assignments (JSONL, NIST's form) under a condition of their own."
    kind = "assignments"
    loader_options = ("condition", "nuggets", "by", "invalid_labels")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The imported labels' condition, new or known.")
        parser.add_argument(
            "--nuggets",
            help="The condition of the nuggets; topics that lack them get them from the file where it is new or "
            "imported. By default it is called as the labels' condition, followed by “nuggets”.",
        )
        parser.add_argument(
            "--by", choices=MAKERS, required=True, help="Who gave these labels, and made the nuggets that come along."
        )
        parser.add_argument(
            "--invalid-labels",
            choices=("missing", NOT_SUPPORT),
            help="What labels that are none become; importances that are none become missing with either.",
        )
