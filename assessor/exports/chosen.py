"""What somebody chose to export."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assessor.collection.models import Campaign, Run, Topic
from metaeval.stats.means import Policy


class ChoiceError(Exception):
    """There is no such thing to export; the text says why."""


@dataclass(frozen=True)
class Chosen:
    """A kind's one record (a condition, a source of grades, a run, ...), its form, and of what alone it is.

    topics, runs: None for all. Of what is said on topics, those for practice are not among all.
    """

    campaign: Campaign
    record: Any
    form: str
    topics: list[Topic] | None = None
    runs: list[Run] | None = None
    policy: Policy = Policy.ZERO
    allow_incomplete: bool = False
    at: datetime | None = None
