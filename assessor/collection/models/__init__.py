"""The core records. One module a subject; import them from here."""

from assessor.collection.models.campaign import Campaign, Organizer, Protocol
from assessor.collection.models.grades import SCALES, Grade, QrelsSource
from assessor.collection.models.history import AppendOnly, AppendOnlyQuerySet, Event
from assessor.collection.models.imports import Import, Imported, MadeOrVisibleManager, MaybeImported
from assessor.collection.models.judges import Condition, Judge
from assessor.collection.models.people import Person
from assessor.collection.models.retrieval import RankedSegment, RetrievalRun
from assessor.collection.models.runs import CONTROL, Answer, Citation, Run, RunAlias, RunDocument, Sentence
from assessor.collection.models.texts import Segment, Topic

__all__ = [
    "CONTROL",
    "SCALES",
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
    "Judge",
    "MadeOrVisibleManager",
    "MaybeImported",
    "Organizer",
    "Person",
    "Protocol",
    "QrelsSource",
    "RankedSegment",
    "RetrievalRun",
    "Run",
    "RunAlias",
    "RunDocument",
    "Segment",
    "Sentence",
    "Topic",
]
