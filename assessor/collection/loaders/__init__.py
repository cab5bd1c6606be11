"""Loaders: from a file's records to rows of a campaign. LOADERS names them by kind; apps above add theirs."""

from assessor.collection.loaders.base import Loader
from assessor.collection.loaders.qrels import QrelsLoader
from assessor.collection.loaders.retrieval import RetrievalLoader
from assessor.collection.loaders.run_list import RunListLoader
from assessor.collection.loaders.runs import RunLoader
from assessor.collection.loaders.segments import SegmentLoader
from assessor.collection.loaders.topics import TopicLoader

LOADERS: dict[str, type[Loader]] = {
    loader.kind: loader
    for loader in (TopicLoader, SegmentLoader, QrelsLoader, RunLoader, RunListLoader, RetrievalLoader)
}

__all__ = ["LOADERS", "Loader"]
