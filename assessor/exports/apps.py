from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "assessor.exports"
    label = "exports"
    zip_exports = ("assessor.exports.paper.PAPER",)
