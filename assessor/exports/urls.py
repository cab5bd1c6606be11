from django.urls import path

from assessor.exports import frozen_views, views
from assessor.exports.registry import EXPORTABLES

_BASE = "campaigns/<slug:slug>/exports"
_MADE = f"{_BASE}/made/<int:export_id>"

_FROZEN = "campaigns/<slug:slug>/frozen"
_VERSION = f"{_FROZEN}/<int:condition_id>/<int:version>"

urlpatterns = [
    path(f"{_BASE}/", views.exports, name="exports"),
    path(f"{_MADE}/", views.export, name="export"),
    path(f"{_MADE}/file", views.made_file, name="made_file"),
    path(f"{_MADE}/manifest.json", views.export_manifest, name="export_manifest"),
    path(f"{_MADE}/stop/", views.stop_export, name="stop_export"),
    path("campaigns/<slug:slug>/release/", views.make_release, name="make_release"),
    path("campaigns/<slug:slug>/paper/", views.make_paper, name="make_paper"),
    path(f"{_FROZEN}/", frozen_views.frozen_conditions, name="frozen_conditions"),
    path(f"{_FROZEN}/<int:condition_id>/", frozen_views.frozen_condition, name="frozen_condition"),
    path(f"{_FROZEN}/<int:condition_id>/freeze/", frozen_views.freeze_condition, name="freeze_condition"),
    path(f"{_VERSION}.zip", frozen_views.frozen_bundle, name="frozen_bundle"),
    path(f"{_VERSION}.json", frozen_views.frozen_manifest, name="frozen_manifest"),
    path(f"{_BASE}/<slug:kind>/", views.choose_export, name="choose_export"),
    path(f"{_BASE}/<slug:kind>/file/", views.export_file, name="export_file"),
    *(
        path(f"campaigns/<slug:slug>/{page.route}", views.export_file, {"kind": kind.name, "page": page}, page.name)
        for kind in EXPORTABLES
        if (page := kind.page)
    ),
]
