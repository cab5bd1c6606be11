"""Django's admin site, for people in the administrator role."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode


class AssayAdminSite(AdminSite):
    site_header = "Assay administration"
    site_title = "Assay administration"
    index_title = "Everything in the database"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        # Imported here because roles need the models, and this module is loaded before they are ready.
        from assessor.collection.roles import ADMINISTRATOR, has_role

        return has_role(request.user, ADMINISTRATOR)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Send people to the one login page, which is throttled."""
        return redirect(f"/login/?{urlencode({'next': request.get_full_path()})}")
