from argparse import ArgumentParser

from assessor.imports.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import drafts that a model made elsewhere (JSONL, as nuggets), for people to edit (AutoNuggets+Edits)."
    kind = "drafts"
    loader_options = ("condition", "qrels", "maker", "invalid_labels")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, help="The condition under which people edit them, new.")
        parser.add_argument("--qrels", required=True, help="People's grades, by which the editor shows passages.")
        parser.add_argument("--maker", required=True, help="Which model drafted them, and how, in your own words.")
        parser.add_argument(
            "--invalid-labels", choices=("missing",), help="What an importance other than vital or okay becomes."
        )
