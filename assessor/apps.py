"""Django's admin, open to administrators alone; Celery, for whatever sends tasks; and checks."""

from django.contrib.admin.apps import AdminConfig

import assessor.celery
import assessor.runtime.checks  # noqa: F401  (which registers them)


class AssayAdminConfig(AdminConfig):
    default_site = "assessor.admin.AssayAdminSite"
