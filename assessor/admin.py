"""Django's admin site, for administrators."""

from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode


class AssayAdminSite(AdminSite):
    site_header = "Assay administration"
    site_title = "Assay administration"
    index_title = "Everything in the database"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_superuser

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Answer 404 to signed-in people of other roles: what isn't theirs gives no hint that it exists."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.user.is_authenticated and not self.has_permission(request):
                raise Http404
            return inner(request, *args, **kwargs)

        return guarded

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Send people to the one login page, which is throttled."""
        if request.user.is_authenticated:
            raise Http404
        return redirect(f"/login/?{urlencode({'next': request.get_full_path()})}")
