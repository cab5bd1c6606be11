"""Static files compressed by gzip alone: Brotli, which a deployment has too, took 5 s of a processor at first."""

from typing import Any

from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class GzippedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    def create_compressor(self, **options: Any) -> Compressor:
        return Compressor(use_brotli=False, **options)
