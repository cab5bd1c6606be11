from argparse import ArgumentParser
from dataclasses import fields
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.llm.rehearsal.options import Knobs
from assessor.llm.rehearsal.server import serve


class Command(BaseCommand):
    help = "Serve an OpenAI-compatible endpoint on this machine with no model behind it, for rehearsals and tests."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        for knob in fields(Knobs):
            option, help = "--" + knob.name.replace("_", "-"), knob.metadata["help"]
            if isinstance(knob.default, bool):
                parser.add_argument(option, action="store_true", help=help)
            else:
                parser.add_argument(option, type=type(knob.default), default=knob.default, help=f"{help} [%(default)s]")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            serve(Knobs(**{knob.name: options[knob.name] for knob in fields(Knobs)}), self._listening)
        except BrokenPipeError:
            raise  # nobody reads where it listens
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    def _listening(self, base_url: str) -> None:
        self.stdout.write(f"The rehearsal endpoint, with no model behind it, listens at {base_url}")
        self.stdout.flush()
