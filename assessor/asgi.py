"""The web process for an ASGI server (what a killed import left behind, the worker's start clears away)."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
application = get_asgi_application()
