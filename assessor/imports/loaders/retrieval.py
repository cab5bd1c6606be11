"""Loading retrieval runs."""

from collections.abc import Iterable, Iterator, Sequence

from assessor.campaigns.models import Campaign, Import, RankedSegment, RetrievalRun
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.retrieval import Ranked, RankingRecord, begins_rankings, read_rankings
from assessor.imports.loaders.base import Loader, Options
from assessor.runtime.sql import insert


class RetrievalLoader(Loader):
    kind = "retrieval"
    label = "Retrieval runs (six columns)"
    batch_size = 20  # topics, of perhaps a thousand ranks each

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_rankings(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.topics: dict[str, int] = dict(campaign.topics.values_list("qid", "pk"))
        self.run: RetrievalRun | None = None

    def read(self, lines: Iterable[Line]) -> Iterator[RankingRecord]:
        return read_rankings(lines, self.report)

    def sift(self, records: Sequence[RankingRecord]) -> list[RankingRecord]:
        if self.run is None:
            self.run = self.campaign.retrieval_runs.filter(tag=records[0].tag).first()
        loaded = self._loaded(records)
        return [record for record in records if self._is_new(record, loaded)]

    def _loaded(self, records: Sequence[RankingRecord]) -> dict[str, list[Ranked]]:
        rankings: dict[str, list[Ranked]] = {}
        if self.run:
            rows = self.run.ranked.filter(topic__qid__in=[record.qid for record in records]).order_by("rank")
            for qid, docid, rank, score in rows.values_list("topic__qid", "docid", "rank", "score"):
                rankings.setdefault(qid, []).append(Ranked(docid, rank, score))
        return rankings

    def _is_new(self, record: RankingRecord, loaded: dict[str, list[Ranked]]) -> bool:
        number = record.line.number
        if record.qid not in self.topics:
            self.report.error(number, "topic", record.qid, "a topic of the campaign; load the topics first")
            return False
        first = self.seen.before(record.qid, record.line)
        if first:
            self.report.error(number, "topic", record.qid, f"a topic's lines together; they begin on line {first.line}")
            return False
        there = loaded.get(record.qid)
        if there is None:
            return True
        if there != record.ranked:
            expected = f"the ranking of {record.tag} for {record.qid} as it is loaded already"
            self.report.error(number, "topic", f"another ranking for {record.qid}", expected)
        self.report.counts["rankings already there"] += 1
        return False

    def write(self, records: Sequence[RankingRecord], import_record: Import) -> None:
        if not records:
            return
        if self.run is None:
            tag = records[0].tag
            self.run = RetrievalRun.everything.create(import_record=import_record, campaign=self.campaign, tag=tag)
            self.report.counts["retrieval runs added"] += 1
        fields = ("import_record", "run", "topic", "docid", "rank", "place", "score")
        owners = (import_record.pk, self.run.pk)
        rows = [
            (*owners, self.topics[record.qid], ranked.docid, ranked.rank, place, ranked.score)
            for record in records
            for place, ranked in enumerate(record.ranked)
        ]
        insert(RankedSegment, fields, rows)
        self.report.counts["rankings added"] += len(records)
        self.report.counts["ranked segments added"] += len(rows)
