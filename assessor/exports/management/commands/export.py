from argparse import ArgumentParser
from typing import Any

from assessor.exportables import Exportable
from assessor.exports.management.exporting import ListedExport
from assessor.exports.registry import BY_NAME, EXPORTABLES


class Command(ListedExport):
    help = "Export anything that can be exported; export WHAT --help says what of it can be chosen."

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
        for kind in EXPORTABLES:
            self.add_choices(names.add_parser(kind.name, help=kind.title), kind)

    def kind(self, options: dict[str, Any]) -> Exportable:
        return BY_NAME[options["what"]]
