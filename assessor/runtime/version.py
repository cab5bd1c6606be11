"""Which version of the program this is, for what it writes."""

import tomllib
from functools import cache

from django.conf import settings


@cache
def program_version() -> str:
    """Return the version that pyproject.toml names."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['name']} {project['version']}"
