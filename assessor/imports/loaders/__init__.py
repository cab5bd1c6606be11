"""Loaders: from a file's records to rows of a campaign. LOADERS names them by kind; apps above add theirs."""

from assessor.imports.loaders.base import Loader
from assessor.imports.loaders.qrels import QrelsLoader
from assessor.imports.loaders.retrieval import RetrievalLoader
from assessor.imports.loaders.run_list import RunListLoader
from assessor.imports.loaders.runs import RunLoader
from assessor.imports.loaders.segments import SegmentLoader
from assessor.imports.loaders.topics import TopicLoader

LOADERS: dict[str, type[Loader]] = {
    loader.kind: loader
    for loader in (TopicLoader, SegmentLoader, QrelsLoader, RunLoader, RunListLoader, RetrievalLoader)
}

__all__ = ["LOADERS", "Loader"]
