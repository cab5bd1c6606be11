"""Django's admin, open to administrators alone."""

from django.contrib.admin.apps import AdminConfig


class AssayAdminConfig(AdminConfig):
    default_site = "assessor.admin.AssayAdminSite"
