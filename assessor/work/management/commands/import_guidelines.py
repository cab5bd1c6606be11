from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.management.common import campaign_called
from assessor.work.actions.guidelines import GuidelinesError, change_guidelines, in_force
from assessor.work.write_protocol import Stale


class Command(BaseCommand):
    help = "Put the text of a Markdown file in force as a campaign's guidelines for a kind of work."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("file", help="Markdown, UTF-8.")
        parser.add_argument("--kind", required=True, choices=[kind.name for kind in condition_kinds()])

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, kind, file = campaign_called(options["campaign"]), options["kind"], options["file"]
        present = in_force(campaign, kind)
        try:
            data = Path(file).read_bytes()
            text = data.decode("utf-8-sig")
            new = change_guidelines(campaign=campaign, kind=kind, text=text, seen=present.version, acting_user=None)
        except OSError as error:
            raise CommandError(f"{file} can't be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise CommandError(f"{file}, line {line}: not UTF-8. Nothing was changed.") from error
        except GuidelinesError as error:
            raise CommandError(f"{file}: {error} Nothing was changed.") from error
        except Stale as error:
            raise CommandError("Somebody else changed the guidelines at this moment. Nothing was changed.") from error
        is_same = new.version == present.version
        self.stdout.write(f"Used from now on: {new}{' (as before: the text is the same)' if is_same else ''}.")
