"""What the pages of exports read."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import Exportable, Purpose
from assessor.exports.models import Export
from assessor.exports.registry import EXPORTABLES
from assessor.llm.models import Job
from assessor.llm.queries import open_failures
from assessor.plan.models import Planned
from assessor.scores.cache import with_incomplete_scores
from assessor.scores.score_source import scored_conditions
from assessor.work.models import Task, Waiting

_LATEST = 50
_ROWS = 8  # of a kind, for a purpose


class File(NamedTuple):
    """A file that can be had at once: its label, and the query of its address."""

    label: str
    query: str


class Row(NamedTuple):
    """A record of which there are files for a purpose; None is the campaign itself.

    query: of the page on which topics and runs are chosen. more: how many records there are, where these are too many
    for a row each; then they are chosen there.
    """

    kind: Exportable
    record: Any
    query: str
    files: list[File]
    remark: str
    more: int = 0


class Section(NamedTuple):
    """The files for a purpose."""

    name: str
    title: str
    about: str
    icon: str
    rows: list[Row]


_PURPOSES = {
    Purpose.PARTICIPANTS: ("For participants", "what teams get back", "people"),
    Purpose.TRACK: ("For the TREC / NIST archive", "the track's own file forms, and records of the work", "lock"),
    Purpose.PAPER: ("For a paper", "tables, comparisons, studies and effort", "book"),
    Purpose.MACHINES: ("For machines", "leaderboards, scripts, notebooks", "chip"),
}


def sections(campaign: Campaign, wanted: str = "") -> list[Section]:
    """Return all that can be exported of a campaign, by purpose. wanted: words that what a row says must contain."""
    words = wanted.lower().split()
    rows: dict[Purpose, list[Row]] = {purpose: [] for purpose in Purpose}
    for kind in EXPORTABLES:
        found = [row for record in kind.records(campaign) for row in _rows(kind, record) if _has(row, words)]
        for purpose, some in _by_purpose(found).items():
            if len(some) > _ROWS:
                some = [Row(kind, None, urlencode({}), [], "", len(some))]
            rows[purpose] += some
    return [Section(purpose, *_PURPOSES[purpose], of_purpose) for purpose, of_purpose in rows.items()]


def _rows(kind: Exportable, record: Any) -> Iterator[tuple[Purpose, Row]]:
    """Yield a row for each purpose that files of a record have."""
    of = {"of": str(record)} if record else {}
    files: dict[Purpose, list[File]] = {}
    for name, form in kind.forms_of(record).items():
        files.setdefault(kind.purpose_of(name), []).append(File(form.label, urlencode(of | {"form": name})))
    for purpose, some in files.items():
        yield purpose, Row(kind, record, urlencode(of), some, kind.remark(record))


def _has(found: tuple[Purpose, Row], words: Sequence[str]) -> bool:
    _, row = found
    said = f"{row.kind.name_on_page} {row.record or ''} {' '.join(file.label for file in row.files)}".lower()
    return all(word in said for word in words)


def _by_purpose(found: Sequence[tuple[Purpose, Row]]) -> dict[Purpose, list[Row]]:
    by: dict[Purpose, list[Row]] = {}
    for purpose, row in found:
        by.setdefault(purpose, []).append(row)
    return by


def latest(campaign: Campaign) -> QuerySet[Export]:
    """Return the exports of a campaign so far, the newest ones."""
    return campaign.exports.select_related("person").defer("manifest")[:_LATEST]


def conditions_to_freeze(campaign: Campaign) -> QuerySet[Condition]:
    """Return a campaign's conditions, each with its newest frozen version, when that was, and whether work goes on.

    What else may be missing takes long to find: the page of a condition says it.
    """
    own = {"condition": OuterRef("pk")}
    open_work = (
        Exists(Task.objects.filter(**own, state=Task.State.OPEN, topic__is_practice=False)),
        Exists(Waiting.objects.filter(**own)),
        Exists(Planned.objects.filter(**own)),
        Exists(Job.objects.filter(**own).exclude(state__in=Job.OVER)),
        Exists(open_failures().filter(job__condition=OuterRef("pk"))),
    )
    conditions = campaign.conditions.order_by("kind", "name")
    return conditions.annotate(
        version=Max("frozen__version"), frozen_at=Max("frozen__at"), has_open_work=reduce(or_, map(Q, open_work))
    )


def unfinished(campaign: Campaign) -> int:
    """Count the conditions of which scores would lack labels."""
    return len(with_incomplete_scores(scored_conditions(campaign)))
