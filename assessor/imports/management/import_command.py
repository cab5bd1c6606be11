"""What the import commands share."""

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from assessor.accounts.models import Person
from assessor.campaigns.management.common import campaign_called, write_lines
from assessor.campaigns.models import Campaign, Import
from assessor.formats.report import LISTED_OF_A_KIND, Problem, error_heading, quantity, write_report
from assessor.imports import importer


class ImportCommand(BaseCommand):
    """Imports a file, or all files of a folder, prints the report of each, and fails when one is refused."""

    kind: ClassVar[str]
    loader_options: ClassVar[tuple[str, ...]] = ()  # the command's options that the loader is told

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("file", help="The file, plain or .gz, or a folder; - reads standard input.")
        parser.add_argument("--check", action="store_true", help="Only check the file; import nothing.")
        parser.add_argument("--report", metavar="FILE", help="Write a file's report to this file, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        if options["file"] == "-":
            with tempfile.NamedTemporaryFile(prefix="assay-import-") as spooled:
                shutil.copyfileobj(sys.stdin.buffer, spooled)
                spooled.flush()
                self._import(campaign, Path(spooled.name), "standard input", options)
            return
        path = Path(options["file"])
        if not path.exists():
            raise CommandError(f"There is no file {path}.")
        if path.is_file():
            self._import(campaign, path, path.name, options)
        else:
            self._import_folder(campaign, path, options)

    def _import_folder(self, campaign: Campaign, folder: Path, options: dict[str, Any]) -> None:
        """Import all files of a folder, whatever becomes of each."""
        if options["report"]:
            raise CommandError("--report is for one file.")
        failed = []
        for path in sorted(path for path in folder.iterdir() if path.is_file()):
            try:
                self._import(campaign, path, path.name, options)
            except CommandError as error:
                failed.append(str(error))
        if failed:
            raise CommandError(" ".join(failed))

    def _import(self, campaign: Campaign, path: Path, file_name: str, options: dict[str, Any]) -> None:
        try:
            import_record = import_file(
                campaign,
                self.kind,
                path,
                file_name=file_name,
                options=self.import_options(options),
                check_only=options["check"],
            )
        except importer.Busy as busy:
            raise CommandError(f"{busy} Try again when it is over.") from busy
        print_report(self, import_record)
        if options["report"]:
            content = write_report(import_record.report, import_record.further_warnings)
            write_lines([content], options["report"], self.stdout)
        if import_record.state not in (Import.State.DONE, Import.State.CHECKED):
            raise CommandError(f"{file_name} was not imported ({import_record.get_state_display()}).")

    def import_options(self, options: dict[str, Any]) -> dict[str, str]:
        """Return what the loader is told, from the command's options."""
        return {key: options[key] for key in self.loader_options if options[key] is not None}


class GradesCommand(ImportCommand):
    """Imports a file that may hold grades; qrels are nothing else."""

    loader_options = ("source", "by", "invalid_labels")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--source", default="", help="Where the grades come from, such as NIST.")
        parser.add_argument("--by", choices=("people", "model"), help="Who gave these grades.")
        parser.add_argument("--invalid-labels", choices=("missing",), help="What grades that are none become.")

    def import_options(self, options: dict[str, Any]) -> dict[str, str]:
        if not options["source"] and self.kind != "qrels":
            return {}
        if not options["source"] or not options["by"]:
            raise CommandError("Grades need a named source: --source NAME --by people|model.")
        return super().import_options(options)


def import_file(
    campaign: Campaign,
    kind: str,
    path: Path,
    *,
    file_name: str | None = None,
    options: dict[str, str] | None = None,
    person: Person | None = None,
    check_only: bool = False,
) -> Import:
    """Import a file in this process, and return the import with state and report.

    Raises importing.Busy, and leaves no record, where another import of the campaign is running.
    """
    importer.sweep()
    import_record = importer.new_import(
        campaign=campaign,
        kind=kind,
        file_name=file_name or path.name,
        options=options or {},
        person=person,
        check_only=check_only,
    )
    try:
        return importer.run(import_record, path)
    except importer.Busy:
        import_record.delete()
        raise


def print_report(command: BaseCommand, import_record: Import) -> None:
    """Print counts, errors and warnings, each with line, field, what was found and what was expected."""
    report = import_record.report
    counts = ", ".join(quantity(count, name) for name, count in report["counts"].items())
    command.stdout.write(f"{report['file']}: {import_record.get_state_display()}; {counts}")
    if report["error_count"]:
        command.stdout.write(error_heading(report["error_count"], len(report["errors"])))
    for problem in report["errors"]:
        command.stdout.write(f"  {Problem(**problem).told(report['file'])}")
    for kind in report["warnings"]:
        listed = [Problem(**problem).told() for problem in kind["listed"][:LISTED_OF_A_KIND]]
        more = [f"{kind['count'] - len(listed):,} more"] if kind["count"] > len(listed) else []
        command.stdout.write(f"{quantity(kind['count'], 'warnings')}, {kind['kind']}: {' | '.join(listed + more)}")
    if any(kind["count"] > LISTED_OF_A_KIND for kind in report["warnings"]):
        command.stdout.write("Warnings that are not listed here are in the report, which --report FILE writes.")
