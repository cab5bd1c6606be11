from django.apps import AppConfig


class ArchiveConfig(AppConfig):
    name = "assessor.archive"
    label = "archive"
    zip_exports = ("assessor.archive.exports.ARCHIVE",)
