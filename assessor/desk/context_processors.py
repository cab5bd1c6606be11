"""What every page's frame shows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from assessor.accounts.roles import ADMINISTRATOR, ASSESSOR, ORGANIZER, has_role


def desk(request: HttpRequest) -> dict[str, Any]:
    """Return the person's roles, and whether this is the demo."""
    user = getattr(request, "user", None)
    names = (ASSESSOR, ORGANIZER, ADMINISTRATOR)
    return {
        "roles": {name: user is not None and has_role(user, name) for name in names},
        "is_demo": settings.DEMO,
    }
