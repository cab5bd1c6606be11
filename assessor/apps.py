"""Django's admin, open to administrators alone; and Celery, for whatever sends tasks."""

from django.contrib.admin.apps import AdminConfig

import assessor.celery  # noqa: F401  (wherever Django runs: tasks are sent by the application that is there by then)


class AssayAdminConfig(AdminConfig):
    default_site = "assessor.admin.AssayAdminSite"
