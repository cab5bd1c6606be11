"""Background work on studies."""

from assessor.celery import app
from assessor.studies import control_sets


@app.task
def ask_control_sets() -> None:
    """Check the control sets that were asked, and ask those whose time has come."""
    control_sets.ask_those_due()
