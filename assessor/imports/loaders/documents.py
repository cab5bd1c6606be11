"""Texts that come with a run's answers."""

import hashlib
from collections.abc import Sequence

from assessor.campaigns.models import Campaign, Import, Run, RunDocument
from assessor.formats.report import Report
from assessor.formats.segments import SegmentRecord
from assessor.imports.loaders.base import Seen, rows_by
from assessor.imports.loaders.segments import SegmentRow, insert_segments, segment_rows
from assessor.runtime.sql import insert

OWN = "own"  # the value of the option document_texts
_REMEDY = (
    "Import the file with the option --document-texts own (on the page: “Keep the texts of documents as the run's "
    "own”): the run then keeps its own texts for its citations."
)


class DocumentSifter:
    """Sorts out which documents of a file are new: segments, or texts that the run keeps as its own.

    The same text may come again, another one may not. Of what the run keeps as its own, segments may have another text.
    """

    def __init__(self, campaign: Campaign, report: Report, *, are_own: bool) -> None:
        self.campaign = campaign
        self.report = report
        self.are_own = are_own
        # Own texts that will stand behind citations in the place of segments with another text: line by docid.
        self.replacing: dict[str, int] = {}
        self.new_segments: set[str] = set()  # their docids
        self._seen = Seen()

    def new(self, documents: Sequence[SegmentRecord], run: Run | None) -> list[SegmentRow]:
        """Return rows of the documents that are not loaded yet, each once. run: None where it is still to be made."""
        if not documents:
            return []
        docids = {document.docid for document in documents}
        segments = {docid: one.text for docid, one in rows_by(self.campaign.segments, "docid", docids).items()}
        own = {docid: one.text for docid, one in rows_by(run.documents, "docid", docids).items()} if run else {}
        new = [one for one in documents if self._is_new(one, own.get(one.docid), segments.get(one.docid))]
        if not self.are_own:
            self.new_segments.update(one.docid for one in new)
        return segment_rows(new)

    def _is_new(self, document: SegmentRecord, own: str | None, segment: str | None) -> bool:
        line, docid = document.line, document.docid
        digest = hashlib.sha256(document.text.encode()).hexdigest()
        first = self._seen.before(docid, line, digest)
        if first:
            if first.value != digest:
                self.report.error(line.number, "documents", docid, f"the same text as on line {first.line}")
            return False
        if own is None and self.are_own:
            if segment not in (None, document.text):
                self.replacing[docid] = line.number
            return True
        loaded = segment if own is None else own
        if loaded is None:
            return True
        if loaded != document.text:
            where = "it is loaded already" if own is None else "the run has it already"
            expected, remedy = f"{docid} as {where}: {loaded}", _REMEDY if own is None else ""
            self.report.error(line.number, "documents", f"{docid}: {document.text}", expected, remedy=remedy)
        self.report.counts["segments already there" if own is None else "own texts already there"] += 1
        return False

    def has(self, docid: str) -> bool:
        """Say whether the file gave this document."""
        return self._seen.has(docid)

    def write(self, documents: Sequence[SegmentRow], import_record: Import, run: Run) -> None:
        """Write new segments, or new texts of the run's own."""
        if not documents:
            return
        if self.are_own:
            fields = ("import_record", "run", "docid", "text", "extras")
            insert(RunDocument, fields, ((import_record.pk, run.pk, *row[:3]) for row in documents))
            self.report.counts["own texts added"] += len(documents)
        else:
            insert_segments(documents, self.campaign, import_record, self.report)
