"""Loaders: from a file's records to rows of a campaign.

LOADERS names them by kind, in the order in which waiting files are imported: what others need comes first. Apps above
add theirs.
"""

from assessor.formats.beginning import Beginning
from assessor.imports.loaders.base import Loader
from assessor.imports.loaders.qrels import QrelsLoader
from assessor.imports.loaders.retrieval import RetrievalLoader
from assessor.imports.loaders.run_list import RunListLoader
from assessor.imports.loaders.runs import RunLoader
from assessor.imports.loaders.segments import SegmentLoader
from assessor.imports.loaders.topics import TopicLoader

LOADERS: dict[str, type[Loader]] = {
    loader.kind: loader
    for loader in (TopicLoader, SegmentLoader, QrelsLoader, RunListLoader, RunLoader, RetrievalLoader)
}


def recognise(beginning: Beginning) -> type[Loader] | None:
    """Return the loader of files that begin like this, if there is one."""
    return next((loader for loader in LOADERS.values() if loader.recognises(beginning)), None)


__all__ = ["LOADERS", "Loader", "recognise"]
