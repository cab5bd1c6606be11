"""What draws figures in the browser: Vega, as the library that draws them here brings it along."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from metaeval.charts.rendering import vega_lite_version

NAME = "vega/embed.js"


class BundleFinder(BaseFinder):
    """Finds one static file, which is written when it is first asked for: Vega, Vega-Lite and Vega-Embed in one."""

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != NAME:
            return []
        found = str(self._written() / NAME)
        return [found] if find_all else found

    def list(self, ignore_patterns: Any) -> Iterator[Any]:
        yield NAME, FileSystemStorage(location=self._written())

    def _written(self) -> Path:
        """Return the folder that has the file of the installed version."""
        folder: Path = Path(settings.DATA_DIR) / "bundle" / version("vl-convert-python")
        path = folder / NAME
        if not path.exists():
            import vl_convert

            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            bundle = vl_convert.javascript_bundle(
                snippet="window.vegaEmbed = vegaEmbed;", vl_version=vega_lite_version()
            )
            unfinished.write_text(bundle, encoding="utf-8")
            unfinished.replace(path)
        return folder
