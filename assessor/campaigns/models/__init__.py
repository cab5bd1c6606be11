"""The core records. One module a subject; import them from here."""

from assessor.campaigns.models.campaign import Campaign, Invitation, Membership, Protocol, Role
from assessor.campaigns.models.grades import SCALES, SCALES_HERE, Grade, QrelsSource
from assessor.campaigns.models.history import AppendOnly, AppendOnlyQuerySet, Event
from assessor.campaigns.models.imports import Import, Imported, MadeOrVisibleManager, MaybeImported
from assessor.campaigns.models.judges import Condition, Judge
from assessor.campaigns.models.retrieval import RankedSegment, RetrievalRun
from assessor.campaigns.models.runs import (
    CANARY,
    CITING_CANARY,
    CONTROL,
    CONTROL_TAG,
    Answer,
    Citation,
    Run,
    RunAlias,
    RunDocument,
    Sentence,
)
from assessor.campaigns.models.texts import Segment, Topic

__all__ = [
    "CANARY",
    "CITING_CANARY",
    "CONTROL",
    "CONTROL_TAG",
    "SCALES",
    "SCALES_HERE",
    "Answer",
    "AppendOnly",
    "AppendOnlyQuerySet",
    "Campaign",
    "Citation",
    "Condition",
    "Event",
    "Grade",
    "Import",
    "Imported",
    "Invitation",
    "Judge",
    "MadeOrVisibleManager",
    "MaybeImported",
    "Membership",
    "Protocol",
    "QrelsSource",
    "RankedSegment",
    "RetrievalRun",
    "Role",
    "Run",
    "RunAlias",
    "RunDocument",
    "Segment",
    "Sentence",
    "Topic",
]
