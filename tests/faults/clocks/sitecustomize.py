"""Python imports this where it starts with this folder on its path: its clock goes wrong, but not how long it waits."""

import os
from datetime import UTC, datetime, timedelta

import time_machine

ahead = timedelta(seconds=int(os.environ["ASSAY_TRIAL_AHEAD"]))
time_machine.travel(datetime.now(UTC) + ahead, tick=True).start()
