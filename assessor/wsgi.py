"""The web process. Each start first clears away what a killed import left behind."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
application = get_wsgi_application()

from assessor.collection.tasks import sweep_imports  # noqa: E402  (needs the application above)
from assessor.connections import leave_connections  # noqa: E402

sweep_imports()
# A server that loads this before it forks (gunicorn --preload) would have its processes share what the sweep opened:
# they would read each other's answers.
leave_connections()
