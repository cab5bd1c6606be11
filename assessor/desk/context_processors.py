"""What every page's frame shows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def desk(request: HttpRequest) -> dict[str, Any]:
    """Return the person's roles, and whether this is the demo."""
    user = getattr(request, "user", None)
    roles = dict.fromkeys(user.role_names, True) if user and user.is_authenticated else {}
    return {
        "roles": roles,
        "is_demo": settings.DEMO,
    }
