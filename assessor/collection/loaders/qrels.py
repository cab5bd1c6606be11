"""Loading relevance judgments."""

from collections.abc import Iterable, Iterator, Sequence

from assessor.collection.formats.lines import Line
from assessor.collection.formats.qrels import GradeRecord, read_qrels
from assessor.collection.formats.report import Report
from assessor.collection.loaders.base import Loader, Options
from assessor.collection.loaders.sources import GradeSifter
from assessor.collection.models import Campaign, Import


class QrelsLoader(Loader):
    kind = "qrels"
    label = "Relevance judgments (qrels)"

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.grades = GradeSifter(campaign, options, report)

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
