"""Loading topics."""

from collections.abc import Iterable, Iterator, Sequence

from assessor.campaigns.models import Import, Topic
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.topics import TopicRecord, begins_topics, read_topics
from assessor.imports.loaders.base import Loader, rows_by


class TopicLoader(Loader):
    kind = "topics"
    label = "Topics (TSV or JSONL)"
    needs_topics = False

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_topics(beginning)

    def read(self, lines: Iterable[Line]) -> Iterator[TopicRecord]:
        return read_topics(lines, self.report)

    def sift(self, records: Sequence[TopicRecord]) -> list[TopicRecord]:
        loaded = rows_by(self.campaign.topics, "qid", [record.qid for record in records])
        return [record for record in records if self._is_new(record, loaded.get(record.qid))]

    def _is_new(self, record: TopicRecord, loaded: Topic | None) -> bool:
        if self.repeats(record.qid, record.line, "id", record.qid):
            return False
        if loaded is None:
            return True
        if (loaded.title, loaded.extras) != (record.title, record.extras):
            expected = f"the topic as it is loaded already: {loaded.title}"
            self.report.error(record.line.number, "title", record.title, expected)
        self.report.counts["topics already there"] += 1
        return False

    def write(self, records: Sequence[TopicRecord], import_record: Import) -> None:
        Topic.everything.bulk_create(
            Topic(
                import_record=import_record,
                campaign=self.campaign,
                qid=record.qid,
                title=record.title,
                form=record.form,
                extras=record.extras,
            )
            for record in records
        )
        self.report.counts["topics added"] += len(records)
