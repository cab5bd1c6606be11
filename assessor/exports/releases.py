"""Releases: what a campaign or a condition is published as, without the names of the people who worked in it."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from django.utils import timezone

from assessor.campaigns.models import Campaign, Condition, Run
from assessor.exportables import Chosen, Exportable
from assessor.exports.checksums import Tally
from assessor.exports.manifests import as_text, condition_payload, file_payload, heading, protocol_payload
from assessor.exports.pseudonyms import Names, judge_names, pseudonyms
from assessor.exports.registry import EXPORTABLES
from assessor.exports.selection import choose
from assessor.exports.zips import MANIFEST, Part, bundle, file_name
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.runtime.replica import on_primary

FORMAT = "assay-release"
_UNKNOWN = 1 << 40  # bytes: a file's size is known only once it is written
# What files of others may have that names people, and what people wrote for the organizer alone.
_NAMING = {"creator", "assessor_id", "assessor", "annotator", "annotator_id", "user", "note", "reason"}
# What of a campaign and a condition somebody gave a name to, or has such names in it.
_NAMED = {"slug", "name", "identity", "judge", "nuggets"}
_LEFT_OUT = (
    "topics for practice",
    "names of people: who worked is called assessor-1, assessor-2, ...",
    "flags, reasons, notes and readings, which may name people",
    f"of what files of others had, the keys {', '.join(sorted(_NAMING))}",
)


def release_parts(campaign: Campaign, condition: Condition | None) -> Iterator[tuple[Exportable, Chosen]]:
    """Yield what goes into a release: all of a campaign, or what belongs to a condition and its nuggets."""
    topics = list(campaign.topics.filter(is_practice=False))
    for kind in EXPORTABLES:
        for record in _records(kind, campaign, condition) if kind.releases else ():
            for form in kind.releases:
                options = {"of": str(record or ""), "form": form, "allow_incomplete": kind.has_policy}
                chosen = choose(campaign, kind, options)
                if "topics" in kind.filters:
                    chosen = replace(chosen, topics=topics)
                yield kind, chosen


def _records(kind: Exportable, campaign: Campaign, condition: Condition | None) -> list[Any]:
    if condition is None:
        return kind.records(campaign)
    of_condition = (kind.frozen(one) for one in (condition, condition.nuggets) if one)
    return [record for record in of_condition if record is not None]


def _unreleased(campaign: Campaign) -> list[str]:
    """Return the titles of what a campaign has files of, and no release."""
    return [kind.title for kind in EXPORTABLES if not kind.releases and kind.records(campaign)]


class Release:
    """A zip of files without names; its manifest is known once all of them are written."""

    def __init__(self, campaign: Campaign, condition: Condition | None, sign_of_life: Callable[[int], None]) -> None:
        self._campaign, self._condition, self._alive = campaign, condition, sign_of_life
        with on_primary():
            called = pseudonyms(campaign)
        self._judges = judge_names(called)
        self._names = Names(called)
        self._practice = set(campaign.topics.filter(is_practice=True).values_list("qid", flat=True))
        self._files: list[dict[str, Any]] = []
        self.manifest = ""
        self.records = 0

    def __iter__(self) -> Iterator[bytes]:
        return bundle(self._parts())

    def _parts(self) -> Iterator[Part]:
        used: set[str] = set()
        for kind, chosen in release_parts(self._campaign, self._condition):
            of = chosen.record
            if not isinstance(of, Run):  # a run's tag is its team's, and stands in every table
                of = self._names.masked(str(of or ""))
            name = file_name(kind.file_name(of, chosen), used)
            yield Part(name, _UNKNOWN, self._data(kind, chosen, name))
        self.manifest = as_text(self._told())
        yield Part(MANIFEST, _UNKNOWN, [self.manifest.encode()])

    def _data(self, kind: Exportable, chosen: Chosen, name: str) -> Iterator[bytes]:
        tally, naming = Tally(kind.forms[chosen.form].heads), 0
        for line in self._without_names(name, kind.lines(chosen)):
            naming += self._names.are_in(line)
            yield tally.add(line)
            self._alive(self.records + tally.records)
        self.records += tally.facts()["records"]
        self._files.append(file_payload(name, **tally.facts()) | {"lines_to_check": naming})

    def _without_names(self, name: str, lines: Iterable[str]) -> Iterator[str]:
        if name.endswith(".csv"):
            rows = csv.reader(lines)
            head = next(rows, [])
            kept = [at for at, column in enumerate(head) if column not in _NAMING]
            called: dict[int, Callable[[str], str]] = {
                at: self._judge if column == "judge" else self._names.masked
                for at, column in enumerate(head)
                if column in ("judge", "condition")
            }
            topic = head.index("topic") if "topic" in head else None
            wanted = (row for row in rows if topic is None or row[topic] not in self._practice)
            return write_table(
                [head[at] for at in kept],
                ([called[at](row[at]) if at in called else row[at] for at in kept] for row in wanted),
            )
        if name.endswith(".jsonl"):
            # Of sentences that are no text, files have NaN.
            return (to_json(_scrubbed(json.loads(line)), with_nan=True) + "\n" for line in lines)
        return iter(lines)

    def _judge(self, name: str) -> str:
        """Return what a judge of a table is called: a name that began like a formula has an apostrophe there."""
        return self._judges.get(name) or self._judges.get(name.removeprefix("'")) or self._names.masked(name)

    def _told(self) -> dict[str, Any]:
        conditions = [self._condition] if self._condition else self._campaign.conditions.order_by("name")
        head = heading(FORMAT, self._campaign, at=timezone.now().isoformat(), by=None)
        return {
            **head,
            "campaign": self._masked(head["campaign"]),
            "conditions": [self._masked(condition_payload(one)) for one in conditions],
            "protocol": protocol_payload(self._condition.protocol if self._condition else self._campaign.protocol),
            "left_out": [*_LEFT_OUT, *_unreleased(self._campaign)],
            "files": self._files,
        }

    def _masked(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return what is told of a campaign or a condition with pseudonyms in what somebody named."""
        return {key: self._names.masked(value) if value and key in _NAMED else value for key, value in told.items()}


def _scrubbed(value: Any) -> Any:
    """Return JSON without the keys that name people."""
    if isinstance(value, dict):
        return {key: _scrubbed(one) for key, one in value.items() if key not in _NAMING}
    return [_scrubbed(one) for one in value] if isinstance(value, list) else value
