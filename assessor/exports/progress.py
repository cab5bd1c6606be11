"""How far an export is, and whether it is still this process's."""

import time
from types import TracebackType

from assessor.exports.models import Export
from assessor.runtime.claims import mine
from assessor.runtime.clock import shared_now
from assessor.runtime.connections import Aside

_SIGN_OF_LIFE = 0.5  # seconds between two writes of an export's progress


class Stopped(Exception):
    """Somebody stopped the export, or another process has it."""


class Progress:
    """Writes how far an export is, which is also its sign of life, and notices when it was stopped."""

    def __init__(self, export: Export) -> None:
        self._export, self._shown_at, self._aside = export, time.monotonic(), Aside()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def show(self, records: int) -> None:
        """Write the progress if the last time is a while ago. Raises Stopped if the export no longer runs."""
        if time.monotonic() - self._shown_at > _SIGN_OF_LIFE:
            self._shown_at = time.monotonic()
            if not self.note(records=max(0, records), alive_at=shared_now()):
                raise Stopped

    def note(self, **columns: object) -> int:
        """Write columns while rows are being read. Return 0 where the export no longer runs."""
        return self._aside.do(mine(self._export).update, **columns)

    def close(self) -> None:
        """Leave the connection on which it was written."""
        self._aside.close()
