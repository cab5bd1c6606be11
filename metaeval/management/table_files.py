"""Score tables that commands read from files."""

from pathlib import Path

from django.core.management.base import CommandError

from assessor.formats.lines import SourceFile
from assessor.formats.report import Report, Unreadable, error_heading
from metaeval.formats.score_tables import read_score_table, run_of_file
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import ScoreMatrix


def read_table_file(path: Path, name: str, policy: str) -> tuple[ScoreMatrix, str]:
    """Read a table; return it with its file's sha256. What is wrong ends the command, with file, line and field."""
    if not path.is_file():
        raise CommandError(f"There is no file {path}.")
    report, source = Report(path.name), SourceFile(path)
    try:
        lines = source.lines(report)
        found = read_score_table(lines, report, name=name, run=run_of_file(path.name), policy=Policy(policy))
    except Unreadable:
        found = None
    if found is None or report.error_count:
        heading = error_heading(report.error_count, len(report.errors))
        listed = "\n".join(f"  {problem.told(path.name)}" for problem in report.errors)
        raise CommandError(f"{path.name} was not read; {heading}\n{listed}")
    return found, source.sha256
