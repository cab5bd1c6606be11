"""What the pages of exports read."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Max, QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import Exportable
from assessor.exports.models import Export
from assessor.exports.registry import EXPORTABLES

_LATEST = 50
_ROWS = 20


class File(NamedTuple):
    """A file that can be had at once: its label, and what stands behind ? in its address."""

    label: str
    query: str


class Row(NamedTuple):
    """A record of which there are files; None is the campaign itself."""

    record: Any
    query: str  # of the page on which topics and runs are chosen
    files: list[File]
    remark: str


class Section(NamedTuple):
    """A kind of file, and of what there is one."""

    kind: Exportable
    rows: list[Row]

    @property
    def is_long(self) -> bool:
        """Whether a page shows the rows only once they are asked for, lest they hide what stands below."""
        return len(self.rows) > _ROWS


def sections(campaign: Campaign) -> list[Section]:
    """Return all that can be exported of a campaign."""
    return [Section(kind, [_row(kind, record) for record in _records(kind, campaign)]) for kind in EXPORTABLES]


def _records(kind: Exportable, campaign: Campaign) -> Any:
    return kind.subject.records(campaign) if kind.subject else [None]


def _row(kind: Exportable, record: Any) -> Row:
    of = {"of": str(record)} if record else {}
    files = [File(form.label, urlencode(of | {"form": name})) for name, form in kind.forms_of(record).items()]
    return Row(record, urlencode(of), files, kind.remark(record))


def latest(campaign: Campaign) -> QuerySet[Export]:
    """Return the exports of a campaign so far, the newest ones."""
    return campaign.exports.select_related("person").defer("manifest")[:_LATEST]


def conditions_to_freeze(campaign: Campaign) -> QuerySet[Condition]:
    """Return a campaign's conditions, each with the newest version that it is frozen in, and when that was."""
    conditions = campaign.conditions.order_by("kind", "name")
    return conditions.annotate(version=Max("frozen__version"), frozen_at=Max("frozen__at"))
