"""A column type of our own."""

import json
from typing import TYPE_CHECKING, Any

from django.db import models

from assessor.formats.values import to_json

if TYPE_CHECKING:
    TextField = models.TextField[Any, Any]
else:
    TextField = models.TextField


class JSONText(TextField):
    """JSON kept as text, exactly as written.

    PostgreSQL's jsonb forgets the order of keys and the spelling of numbers, so the same campaign would be exported
    in other bytes from another database. These values are read whole and never searched inside.
    """

    if TYPE_CHECKING:
        # What django-stubs asks for the type of a column's values.
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else to_json(value)

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    def value_to_string(self, obj: models.Model) -> str:
        return to_json(self.value_from_object(obj))
