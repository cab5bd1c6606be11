"""What every page's frame shows."""

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from assessor.collection.models import Person
from assessor.collection.roles import ADMINISTRATOR, ASSESSOR, ORGANIZER, has_role


def desk(request: HttpRequest) -> dict[str, Any]:
    """Return the person's roles, their own keys (JSON; "" for those of the screens), and whether this is the demo."""
    user = getattr(request, "user", None)
    names = (ASSESSOR, ORGANIZER, ADMINISTRATOR)
    return {
        "roles": {name: user is not None and has_role(user, name) for name in names},
        "own_keys": _own_keys(user) if user is not None and user.is_authenticated else "",
        "is_demo": settings.DEMO,
    }


def _own_keys(person: Person) -> str:
    return json.dumps({"off": person.keys_off, "own": person.keys}) if person.keys_off or person.keys else ""
