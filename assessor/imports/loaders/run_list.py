"""Loading runs.csv: team, task, type, priority, aliases and generators of runs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assessor.campaigns.history import record as record_event
from assessor.campaigns.models import Campaign, Import, Run, RunAlias
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.run_list import RunRecord, begins_run_list, read_run_list
from assessor.imports.loaders.base import Loader, Options

_FIELDS = ("team", "task", "type", "priority", "generator")


class RunListLoader(Loader):
    """Unlike the others, this one may change what is there: the list is the organizer's word on the runs.

    Each change is recorded in the history with what stood there before, and all happen at once, in finish().
    """

    kind = "run_list"
    label = "List of runs (runs.csv)"
    needs_topics = False

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_run_list(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.runs: dict[str, Run] = {run.tag: run for run in campaign.runs.prefetch_related("aliases")}
        self._owner: dict[str, str] = {}
        for tag, run in self.runs.items():
            self._owner.update(dict.fromkeys([tag, *_aliases(run)], tag))
        self._rows: list[RunRecord] = []

    def read(self, lines: Iterable[Line]) -> Iterator[RunRecord]:
        return read_run_list(lines, self.report)

    def sift(self, records: Sequence[RunRecord]) -> list[RunRecord]:
        return [record for record in records if self._is_new(record)]

    def _is_new(self, record: RunRecord) -> bool:
        number = record.line.number
        if self.repeats(record.tag, record.line, "tag", record.tag):
            return False
        for field, name in [("tag", record.tag), *(("aliases", alias) for alias in record.aliases)]:
            owner = self._owner.setdefault(name, record.tag)
            if owner != record.tag:
                self.report.error(number, field, name, f"a name of one run only; {owner} has it")
        run = self.runs.get(record.tag)
        if run and _state(run) == _wanted(record, run):
            self.report.counts["runs already so"] += 1
            return False
        return True

    def write(self, records: Sequence[RunRecord], import_record: Import) -> None:
        self._rows.extend(records)

    def finish(self, import_record: Import) -> None:
        for record in self._rows:
            run = self.runs.get(record.tag)
            if run is None:
                run = Run(import_record=import_record, campaign=self.campaign, tag=record.tag)
                self.report.counts["runs added"] += 1
            else:
                self.report.counts["runs changed"] += 1
                record_event(
                    "run details changed",
                    run,
                    campaign=self.campaign,
                    person=import_record.person,
                    before=_state(run),
                    after=_wanted(record, run),
                )
            for field, value in _details(record, run).items():
                setattr(run, field, value)
            run.save()
            run.aliases.exclude(name__in=record.aliases).delete()
            known = set(run.aliases.values_list("name", flat=True))
            RunAlias.objects.bulk_create(
                RunAlias(campaign=self.campaign, run=run, name=name)
                for name in dict.fromkeys(record.aliases)
                if name not in known
            )


def _aliases(run: Run) -> list[str]:
    return [alias.name for alias in run.aliases.all()]


def _state(run: Run) -> dict[str, Any]:
    return {field: getattr(run, field) for field in _FIELDS} | {"aliases": sorted(_aliases(run))}


def _wanted(record: RunRecord, run: Run) -> dict[str, Any]:
    return _details(record, run) | {"aliases": sorted(set(record.aliases))}


def _details(record: RunRecord, run: Run) -> dict[str, Any]:
    """Return the fields of a run as its row has them; a file without the column leaves the generator as it is."""
    details = {field: getattr(record, field) for field in _FIELDS}
    return details if record.generator is not None else details | {"generator": run.generator}
