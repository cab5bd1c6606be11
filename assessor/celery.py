"""The Celery application; tasks live in each app's tasks.py."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
# The default where nobody runs a broker: message files in a folder.
TRANSPORT_ALIASES["embedded"] = "assessor.broker:Transport"

app = Celery("assessor")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
