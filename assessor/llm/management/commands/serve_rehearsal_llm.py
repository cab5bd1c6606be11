import socket
from argparse import ArgumentParser
from dataclasses import fields
from typing import Any

import uvicorn
from django.core.management.base import BaseCommand, CommandError

from assessor.llm.rehearsal.app import App
from assessor.llm.rehearsal.knobs import Knobs

_WAITING = 2_048  # connections that may wait to be accepted


class Command(BaseCommand):
    help = "Serve an endpoint of the chat-completions API with no model behind it, for trying things out and for tests."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        for knob in fields(Knobs):
            option = f"--{knob.name.replace('_', '-')}"
            if isinstance(knob.default, bool):
                parser.add_argument(option, action="store_true", help=knob.metadata["help"])
            else:
                kind = type(knob.default)
                parser.add_argument(option, type=kind, default=knob.default, help=knob.metadata["help"])

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            knobs = Knobs(**{knob.name: options[knob.name] for knob in fields(Knobs)})
        except ValueError as error:
            raise CommandError(str(error)) from error
        with socket.socket() as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind(("127.0.0.1", knobs.port))
            except OSError as error:
                raise CommandError(f"Port {knobs.port} can't be had: {error.strerror}.") from error
            listening.listen(_WAITING)
            self.stdout.write(f"The rehearsal endpoint listens at http://127.0.0.1:{listening.getsockname()[1]}/v1")
            self.stdout.flush()
            config = uvicorn.Config(
                App(knobs), log_level="warning", access_log=False, http="httptools", loop="asyncio", lifespan="off"
            )
            config.load()
            uvicorn.Server(config).run(sockets=[listening])
