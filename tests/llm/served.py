"""What a process with a rehearsal endpoint runs. Importing it loads all that it needs."""

import os
import tempfile
from multiprocessing.connection import Connection
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
os.environ.setdefault("ASSAY_SECRET_KEY", "only for rehearsals")

import django

django.setup()

from assessor.llm.job_kind import job_prompts  # noqa: E402
from assessor.llm.rehearsal.options import Knobs  # noqa: E402
from assessor.llm.rehearsal.server import serve  # noqa: E402

job_prompts()  # imports the kinds of job


def serve_endpoint(knobs: dict[str, Any], folder: str, told: "Connection[str, str]") -> None:
    """Serve until a signal ends the process; send the base URL once it can be reached. folder: for its files."""
    tempfile.tempdir = folder  # which ends with the test, also if the process was killed
    serve(Knobs(**knobs), told.send)
