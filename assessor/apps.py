"""Django's admin, open to administrators alone; and checks."""

from django.contrib.admin.apps import AdminConfig

import assessor.runtime.checks  # noqa: F401  (which registers them)


class AssayAdminConfig(AdminConfig):
    default_site = "assessor.admin.AssayAdminSite"
