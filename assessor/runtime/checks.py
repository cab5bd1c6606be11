"""What `check --deploy` tries of an installation, besides Django's own checks."""

import uuid
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from assessor.runtime.storage import StorageAway


@register(deploy=True)
def object_storage_can_be_used(**kwargs: Any) -> list[CheckMessage]:
    """Write, read, list and remove a file."""
    if not settings.OBJECT_STORAGE:
        return []
    storage = storages["uploads"]
    try:
        name = storage.save(f"{uuid.uuid4().hex}.check", ContentFile(b"Assay"))
        with storage.open(name) as file:
            file.read()
        storage.listdir("")
        storage.delete(name)
    except (StorageAway, FileNotFoundError) as error:
        return [Error(str(error), hint="ASSAY_STORAGE: see docs/administrator/settings.md.", id="assay.E001")]
    return []
