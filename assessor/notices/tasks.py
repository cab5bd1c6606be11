"""Background work on notices. The database says what is due; a message is only a hint to look."""

from assessor.celery import app
from assessor.notices.sending import send_due, sweep
from assessor.runtime.workers import at_start_and_after_deaths


@app.task
def send_notices() -> None:
    """Send what is due, and let other work of the queue come first before the rest."""
    if send_due():
        send_notices.delay()


@app.task
def take_up_notices() -> None:
    """Have what dead processes were sending wait again, and send hints if anything is due."""
    if sweep():
        send_notices.delay()


at_start_and_after_deaths(take_up_notices)
