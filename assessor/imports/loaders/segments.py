"""Loading segments, and the grades that come with a request's candidates."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.campaigns.models import Campaign, Import, Segment
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.qrels import GradeRecord
from assessor.formats.report import Report
from assessor.formats.segments import SegmentRecord, begins_segments, has_judgments, read_segments
from assessor.formats.values import to_json
from assessor.imports.loaders.base import Loader, Options, rows_by
from assessor.imports.loaders.sources import GradeSifter
from assessor.runtime.sql import insert

SegmentRow = tuple[str, str, str, str, bool]  # docid, text, extras, language, has_translation


def segment_rows(segments: Sequence[SegmentRecord]) -> list[SegmentRow]:
    """Return segments as the database keeps them."""
    return [(one.docid, one.text, to_json(one.extras), one.language, one.has_translation) for one in segments]


def insert_segments(rows: Sequence[SegmentRow], campaign: Campaign, import_record: Import, report: Report) -> None:
    """Add segments of an import to a campaign."""
    fields = ("import_record", "campaign", "docid", "text", "extras", "language", "has_translation")
    insert(Segment, fields, ((import_record.pk, campaign.pk, *row) for row in rows))
    report.counts["segments added"] += len(rows)


class NewSegments(NamedTuple):
    """Rows of segments, and the grades that came with them."""

    rows: list[SegmentRow]
    grades: list[GradeRecord]


class SegmentLoader(Loader):
    kind = "segments"
    label = "Segments (passages)"
    needs_topics = False  # but for the judgments that requests may have
    asks = ("source", "by", "invalid_labels")

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_segments(beginning)

    @classmethod
    def asks_first(cls, beginning: Beginning) -> bool:
        return has_judgments(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.grades = GradeSifter(campaign, options, report) if options.get("source") else None
        self._any_loaded = campaign.segments.exists()  # nothing else brings some while this import runs

    def read(self, lines: Iterable[Line]) -> Iterator[SegmentRecord]:
        return read_segments(lines, self.report, invalid_labels_missing=self.invalid_labels_missing)

    def sift(self, records: Sequence[SegmentRecord]) -> NewSegments:
        judged = [record for record in records if record.grade is not None and record.qid is not None]
        grades = self._sift_grades(judged)
        docids = [record.docid for record in records]
        loaded = rows_by(self.campaign.segments, "docid", docids) if self._any_loaded else {}
        pairs = zip(records, segment_rows(records), strict=True)
        rows = [row for record, row in pairs if self._is_new(record, row, loaded.get(record.docid))]
        return NewSegments(rows, grades)

    def _sift_grades(self, judged: Sequence[SegmentRecord]) -> list[GradeRecord]:
        if self.grades is None:
            for record in judged:
                expected = "no judgment, or a named source of grades (--source)"
                self.report.error(record.line.number, "judgment", record.grade, expected)
            return []
        return self.grades.new([GradeRecord(r.line, str(r.qid), None, r.docid, int(r.grade or 0)) for r in judged])

    def _is_new(self, record: SegmentRecord, row: SegmentRow, loaded: Segment | None) -> bool:
        if self._was_given(record, row):
            return False
        if loaded is None:
            return True
        if loaded.text != record.text:
            expected = f"{record.docid} as it is loaded already: {loaded.text}"
            self.report.error(record.line.number, "segment", record.text, expected)
        elif loaded.extras != record.extras:
            key, found, there = _difference(record.extras, loaded.extras)
            self.report.error(record.line.number, key, found, f"{record.docid} as it is loaded already: {there}")
        self.report.counts["segments already there"] += 1
        return False

    def _was_given(self, record: SegmentRecord, row: SegmentRow) -> bool:
        """Say whether the file gave the segment before. Several requests may bring the same one, unchanged."""
        _, text, extras, *_ = row
        digest = hashlib.sha256(f"{extras}\n{text}".encode()).hexdigest()
        if record.qid is None:
            return self.repeats(record.docid, record.line, "docid", record.docid, digest)
        first = self.seen.before(record.docid, record.line, digest)
        if first and first.value != digest:
            self.report.error(record.line.number, "docid", record.docid, f"the same text as on line {first.line}")
        return first is not None

    def end(self) -> None:
        if self.grades:
            self.grades.end()

    def write(self, new: NewSegments, import_record: Import) -> None:
        insert_segments(new.rows, self.campaign, import_record, self.report)
        if self.grades:
            self.grades.write(new.grades, import_record)

    def finish(self, import_record: Import) -> None:
        if self.grades:
            self.grades.finish()


def _difference(found: dict[str, Any], there: dict[str, Any]) -> tuple[str, str, str]:
    """Return the first key that differs, with what was found and what is there."""
    key = next(key for key in [*found, *there] if found.get(key, ...) != there.get(key, ...))
    one, other = (to_json(extras[key]) if key in extras else f"no {key}" for extras in (found, there))
    return key, one, other
