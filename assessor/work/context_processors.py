"""What the templates of all pages can ask for."""

from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest

from assessor.work.models import Installation


def installation(request: HttpRequest) -> dict[str, Callable[[], UUID]]:
    """Name this installation, for pages that keep things in the browser; read by those alone."""
    return {"installation": Installation.present}
