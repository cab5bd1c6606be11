"""Where files are kept in the data folder."""

from pathlib import Path

from django.conf import settings

from assessor.campaigns.models import Import
from assessor.exports import actions
from assessor.exports.models import Export


def upload_path(record: Import) -> Path:
    """Return where the file of an import is kept; an import that was not uploaded becomes one that was."""
    if not record.upload:
        record.upload = f"{record.pk}.upload"
        Import.objects.filter(pk=record.pk).update(upload=record.upload)
    return Path(settings.DATA_DIR) / "uploads" / record.upload


def export_path(export: Export) -> Path:
    """Return where the file of an export is kept."""
    return Path(settings.DATA_DIR) / "exports" / actions.made(export).name


def files_of_exports() -> list[str]:
    """Return the names of all files where exports are made and kept."""
    return sorted(path.name for path in (Path(settings.DATA_DIR) / "exports").iterdir())
