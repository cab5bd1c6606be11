"""The web process. Each start first clears away what a killed import left behind."""

import logging
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
application = get_wsgi_application()

from django.db import DatabaseError  # noqa: E402  (needs the application above)
from django.urls import reverse  # noqa: E402

from assessor.imports.importer import sweep  # noqa: E402
from assessor.runtime.connections import leave_connections  # noqa: E402
from assessor.runtime.garbage import freeze_what_is_loaded  # noqa: E402

try:
    sweep()
except DatabaseError:
    # Without its database it says so on each page, until that is back; the workers sweep as well.
    logging.getLogger(__name__).exception("What killed imports left behind is not cleared away")
reverse("home")  # loads all views, and reads all addresses, now and not within the first request
# A server that loads this before it forks (gunicorn --preload) would have its processes share what the sweep opened:
# they would read each other's answers.
leave_connections()
freeze_what_is_loaded()
