"""Segments that come with a run's answers."""

import hashlib
from collections.abc import Sequence

from assessor.collection.formats.report import Report
from assessor.collection.formats.segments import SegmentRecord
from assessor.collection.loaders.base import Seen, rows_by
from assessor.collection.loaders.segments import SegmentRow, insert_segments, segment_rows
from assessor.collection.models import Campaign, Import, Segment


class DocumentSifter:
    """Sorts out which documents of a file are new. The same text may come again, another one may not."""

    def __init__(self, campaign: Campaign, report: Report) -> None:
        self.campaign = campaign
        self.report = report
        self._seen = Seen()
        self._has_any = False

    def new(self, documents: Sequence[SegmentRecord]) -> list[SegmentRow]:
        """Return rows of the documents that are not loaded yet, each once."""
        if not documents:
            return []
        self._has_any = True
        loaded = rows_by(self.campaign.segments, "docid", {document.docid for document in documents})
        return segment_rows([one for one in documents if self._is_new(one, loaded.get(one.docid))])

    def _is_new(self, document: SegmentRecord, loaded: Segment | None) -> bool:
        line, docid = document.line, document.docid
        digest = hashlib.sha256(document.text.encode()).hexdigest()
        first = self._seen.before(docid, line, digest)
        if first:
            if first.value != digest:
                self.report.error(line.number, "documents", docid, f"the same text as on line {first.line}")
            return False
        if loaded is None:
            return True
        if loaded.text != document.text:
            expected = f"{docid} as it is loaded already: {loaded.text}"
            self.report.error(line.number, "documents", f"{docid}: {document.text}", expected)
        self.report.counts["segments already there"] += 1
        return False

    def has(self, docid: str) -> bool:
        """Say whether the file gave this document."""
        return self._has_any and self._seen.has(docid)

    def write(self, documents: Sequence[SegmentRow], import_record: Import) -> None:
        """Write new segments."""
        if documents:
            insert_segments(documents, self.campaign, import_record, self.report)
