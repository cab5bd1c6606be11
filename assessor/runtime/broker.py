"""The embedded broker: Celery messages as files in a folder, for one machine without Redis or RabbitMQ."""

import os
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    # Its files of who listens are not written safely: of two workers that start at the same moment one may die, and
    # what both wrote keeps all later ones from starting (kombu pull request 1499). Tasks need none of them.
    supports_fanout = False

    def _put(  # type: ignore[override]  # its two bases name the message differently
        self, queue: str, message: Any, **kwargs: Any
    ) -> None:
        """Write a message under another name and rename it, so that no worker reads it half-written.

        kombu's own writes in place, and a second worker may take the file before it is whole (kombu issue 1551).
        """
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        unfinished = folder / f"{name}.part"
        with unfinished.open("wb") as file:
            file.write(str_to_bytes(dumps(message)))
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(folder / name)


class Transport(filesystem.Transport):
    Channel = Channel
    # So workers don't offer remote control ("celery inspect"), which goes by fanout.
    implements = filesystem.Transport.implements.extend(exchange_type=frozenset({"direct", "topic"}))
