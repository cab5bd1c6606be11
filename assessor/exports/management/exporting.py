"""The export commands, made from what can be exported."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from assessor.campaigns.management.common import write_lines
from assessor.campaigns.management.export_command import ExportCommand
from assessor.campaigns.models import Campaign
from assessor.exportables import ChoiceError, Exportable
from assessor.exports.checksums import Tally
from assessor.exports.manifests import as_text, file_payload, manifest_of
from assessor.exports.registry import BY_NAME
from assessor.exports.selection import choose
from assessor.scores.leaderboards import Incomplete
from metaeval.stats.means import Policy


class ListedExport(ExportCommand):
    """Writes a file of something in the list of what can be exported; a subclass says of what."""

    def kind(self, options: dict[str, Any]) -> Exportable:
        """Return what is to be exported."""
        raise NotImplementedError

    def add_choices(self, parser: ArgumentParser, kind: Exportable) -> None:
        """Let the campaign, the file and what of it be chosen."""
        super().add_arguments(parser)
        parser.add_argument("--manifest", metavar="FILE", help="Write what the file holds, and its sum, to this file.")
        if len(kind.forms) > 1:
            parser.add_argument("--form", choices=kind.forms)
        if kind.subject:
            parser.add_argument(f"--{kind.subject.option}", required=True, help=f"The {kind.subject.what}.")
        if "topics" in kind.filters:
            parser.add_argument("--topics", nargs="+", metavar="ID", help="Of these topics alone.")
        if "runs" in kind.filters:
            parser.add_argument("--runs", nargs="+", metavar="TAG", help="Of these runs alone.")
        for name in kind.asked:
            usual = "; usually the first that its page offers" if name in kind.choices else ""
            parser.add_argument(f"--{name}", help=f"As its page asks{usual}.")
        if kind.has_moment:
            parser.add_argument("--at", help="A day, by its end, or a moment: 2026-01-31 or 2026-01-31T12:00 (UTC).")
        if kind.has_policy:
            parser.add_argument(
                "--policy",
                choices=list(Policy),
                default=Policy.ZERO,
                help="How a topic counts that a run did not answer: as zero; only if answered; or for no run at all "
                "(common: only topics that all runs answered count).",
            )
            parser.add_argument(
                "--allow-incomplete",
                action="store_true",
                help="Write the means over complete answers where some are not.",
            )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except ChoiceError as error:
            raise CommandError(str(error)) from error
        except Incomplete as error:
            raise CommandError(f"{error} With --allow-incomplete, means are over the complete ones.") from error

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        kind = self.kind(options)
        if kind.subject:
            options["of"] = options[kind.subject.option]
        chosen = choose(campaign, kind, options)
        tally = Tally(kind.forms[chosen.form].heads)
        yield from map(tally.seen, kind.lines(chosen))
        if options["manifest"]:
            file = file_payload(kind.file_name(chosen.record, chosen), **tally.facts())
            manifest = manifest_of(kind, chosen, file, at=timezone.now().isoformat(), by=None)
            write_lines([as_text(manifest)], options["manifest"], self.stdout)


def command(name: str) -> type[ListedExport]:
    """Return the command that exports this."""
    exported = BY_NAME[name]

    class Command(ListedExport):
        help = f"Export: {exported.title.lower()}."

        def add_arguments(self, parser: ArgumentParser) -> None:
            self.add_choices(parser, exported)

        def kind(self, options: dict[str, Any]) -> Exportable:
            return exported

    return Command
