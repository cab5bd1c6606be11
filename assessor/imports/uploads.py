"""Who may upload, and how much."""

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler

_FORM = 1024 * 1024  # bytes that the rest of the form may take


def new_file(suffix: str) -> Path:
    """Make a file where uploads lie; left behind, it is swept away with them."""
    with tempfile.NamedTemporaryFile(dir=Path(settings.DATA_DIR) / "uploads", suffix=suffix, delete=False) as file:
        return Path(file.name)


class SignedInUploadHandler(TemporaryFileUploadHandler):
    """Keeps uploads on disk, from signed-in people only and up to the limit: the rest is not read."""

    _length = 0  # bytes of the whole request

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, *args: Any, **kwargs: Any) -> None:
        self._length = content_length

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        user = getattr(self.request, "user", None)
        if user is None or not user.is_authenticated or self._length > settings.MAX_UPLOAD_BYTES + _FORM:
            raise StopUpload(connection_reset=True)
        super().new_file(*args, **kwargs)
