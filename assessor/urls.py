"""Every address: the admin, and what each app adds."""

from django.apps import apps
from django.contrib import admin
from django.urls import include, path
from django.utils.module_loading import module_has_submodule

_kinds = [app for app in apps.get_app_configs() if hasattr(app, "condition_kind")]

urlpatterns = [
    path("", include("assessor.desk.urls")),
    path("", include("assessor.accounts.urls")),
    path("", include("assessor.work.urls")),
    path("", include("assessor.llm.urls")),
    path("", include("assessor.scores.urls")),
    *(path("", include(f"{app.name}.urls")) for app in _kinds if module_has_submodule(app.module, "urls")),
    path("", include("metaeval.urls")),
    path("", include("assessor.archive.urls")),
    path("", include("assessor.exports.urls")),
    path("", include("assessor.api.urls")),
    path("", include("assessor.notices.urls")),
    path("", include("assessor.training.urls")),
    path("", include("assessor.plan.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "assessor.desk.views.errors.bad_request"
handler403 = "assessor.desk.views.errors.forbidden"
handler404 = "assessor.desk.views.errors.not_found"
handler500 = "assessor.desk.views.errors.server_error"
