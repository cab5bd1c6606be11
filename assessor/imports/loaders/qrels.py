"""Loading relevance judgments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assessor.campaigns.models import Campaign, Import
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.qrels import GradeRecord, begins_qrels, read_qrels
from assessor.formats.report import Report
from assessor.imports.loaders.base import AddError, Loader, Options
from assessor.imports.loaders.sources import GradeSifter


class QrelsLoader(Loader):
    kind = "qrels"
    label = "Relevance judgments (qrels)"
    is_a_judges = True
    asks = ("source", "by", "invalid_labels")

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_qrels(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.grades = GradeSifter(campaign, options, report)

    @classmethod
    def suggest(cls, campaign: Campaign, words: Sequence[str]) -> Options:
        return {"source": " ".join(word for word in words if word.lower() != cls.kind).capitalize()}

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        if not filled_in.get("source", "").strip():
            add_error("source", "Name the source: grades are kept by source.")
        return super().read_form(filled_in, add_error)

    def read(self, lines: Iterable[Line]) -> Iterator[GradeRecord]:
        return read_qrels(lines, self.report, invalid_labels_missing=self.invalid_labels_missing)

    def sift(self, records: Sequence[GradeRecord]) -> list[GradeRecord]:
        return self.grades.new(records)

    def end(self) -> None:
        self.grades.end()

    def write(self, records: Sequence[GradeRecord], import_record: Import) -> None:
        self.grades.write(records, import_record)

    def finish(self, import_record: Import) -> None:
        self.grades.finish()
