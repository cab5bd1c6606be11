"""Grades under a named source: what qrels and a request's judgments share."""

from collections.abc import Sequence

from assessor.campaigns.condition_kind import names_of_grades
from assessor.campaigns.models import SCALES, Campaign, Condition, Grade, Import, QrelsSource
from assessor.formats.qrels import GradeRecord
from assessor.formats.report import Report
from assessor.imports.loaders.base import Options, Seen, may_add_to
from assessor.runtime.sql import insert

_LONGEST_NAME = 120


class GradeSifter:
    """Sorts out which grades of a file are new for the source that the organizer named."""

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        self.campaign = campaign
        self.report = report
        self.name = options["source"]
        self.by = options["by"]
        self.source: QrelsSource | None = None
        self.topics: dict[str, int] = dict(campaign.topics.values_list("qid", "pk"))
        self._seen = Seen()
        self._max_grade = min(SCALES)
        self._judged = 0
        if not self.name.strip() or not self.name.isprintable() or len(self.name) > _LONGEST_NAME:
            report.error(0, "source", self.name, f"a name of 1 to {_LONGEST_NAME} visible characters")
        else:
            self.source = campaign.qrels_sources.filter(name=self.name).first()
        if self.source and not may_add_to(self.source, options):
            expected = "a new name, or that of a source which came by the same token"
            report.error(0, "source", self.name, expected)
            self.source = None
        elif self.source and self.source.condition:
            expected = f"another name: these grades are made here, under the condition {self.source.condition}"
            report.error(0, "source", self.name, expected)
        elif self.source and self.source.by != self.by:
            found = f"{self.name}, graded by {self.by}"
            report.error(0, "source", found, f"graded by {self.source.by}, as this source is loaded already")
        self._post_edited = self._shown_under() if self.source else None

    def new(self, grades: Sequence[GradeRecord]) -> list[GradeRecord]:
        """Return the grades that are not loaded yet; a different grade for the same segment is an error."""
        loaded = self._loaded(grades)
        self._max_grade = max([self._max_grade, *(grade.grade for grade in grades)])
        judged = sum(grade.grade >= 0 for grade in grades)
        self._judged += judged
        if judged < len(grades):
            self.report.counts["not judged (-1 or -2)"] += len(grades) - judged
        return [grade for grade in grades if self._is_new(grade, loaded)]

    def _loaded(self, grades: Sequence[GradeRecord]) -> dict[tuple[int, str], tuple[int, str]]:
        if self.source is None:
            return {}
        topics = {self.topics[grade.qid] for grade in grades if grade.qid in self.topics}
        docids = {grade.docid for grade in grades}
        rows = Grade.with_unjudged.filter(source=self.source, topic__in=topics, docid__in=docids)
        return {
            (topic, docid): (grade, iteration)
            for topic, docid, grade, iteration in rows.values_list("topic_id", "docid", "grade", "iteration")
        }

    def _is_new(self, record: GradeRecord, loaded: dict[tuple[int, str], tuple[int, str]]) -> bool:
        line = record.line
        if record.qid not in self.topics:
            self.report.error(line.number, "topic", record.qid, "a topic of the campaign; load the topics first")
            return False
        if self.source and self._post_edited and record.grade > self.source.max_grade:
            scale = SCALES[self.source.max_grade]
            expected = f"a grade from {scale}, the scale on which people post-edit {self.name} ({self._post_edited})"
            remedy = "Import the file under another source."
            self.report.error(line.number, "grade", record.grade, expected, remedy=remedy)
            return False
        first = self._seen.before(f"{record.qid} {record.docid}", line, str(record.grade))
        if first:
            if first.value != str(record.grade):
                found = f"{record.docid} with grade {record.grade}"
                self.report.error(line.number, "grade", found, f"grade {first.value}, as on line {first.line}")
            else:
                found = f"{record.qid} {record.docid}"
                self.report.warn("grade given twice", line.number, "docid", found, f"once; see line {first.line}")
            return False
        there = loaded.get((self.topics[record.qid], record.docid))
        if there is None:
            return True
        if there[0] != record.grade or record.iteration not in (None, there[1]):
            found = f"{record.docid}: grade {record.grade}, column 2 {record.iteration}"
            expected = f"grade {there[0]}, column 2 {there[1]}, as {self.name} is loaded already"
            self.report.error(line.number, "grade", found, expected)
        self.report.counts["grades already there"] += record.grade >= 0
        return False

    def end(self) -> None:
        """Say which scale the grades are on."""
        if self._judged:
            self.report.counts[f"graded on the scale {SCALES[self._max_grade]}"] = self._judged

    def finish(self) -> None:
        """Put a source that was there on the scale of the file, with what the import brings."""
        if self.source is None or self._max_grade <= self.source.max_grade:
            return
        QrelsSource.everything.filter(pk=self.source.pk).update(max_grade=self._max_grade)
        if shown := self._shown_under():  # somebody began to post-edit them while the file was read
            raise RuntimeError(f"People post-edit {self.name} on another scale under {shown}; import as another source")

    def _shown_under(self) -> Condition | None:
        """Return a condition in which the loaded grades stand beside people's: both are on one scale."""
        return Condition.objects.filter(qrels_source=self.source, kind__in=names_of_grades()).first()

    def write(self, grades: Sequence[GradeRecord], import_record: Import) -> None:
        """Write new grades, and the source with the first of them."""
        if not grades:
            return
        if self.source is None:
            self.source = QrelsSource.everything.create(
                import_record=import_record,
                campaign=self.campaign,
                name=self.name,
                by=self.by,
                max_grade=self._max_grade,
            )
        fields = ("import_record", "source", "topic", "docid", "grade", "iteration")
        owners = (import_record.pk, self.source.pk)
        insert(
            Grade,
            fields,
            ((*owners, self.topics[r.qid], r.docid, r.grade, r.iteration or "0") for r in grades),
        )
        self.report.counts["grades added"] += sum(grade.grade >= 0 for grade in grades)
