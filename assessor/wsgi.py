"""The web process. Each start first clears away what a killed import left behind."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
application = get_wsgi_application()

from assessor.collection.tasks import sweep_imports  # noqa: E402  (needs the application above)

sweep_imports()
