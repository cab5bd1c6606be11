"""What people made of the nuggets of a former edition: the difference between both banks, by topic."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.formats.tables import write_table
from nuggets.condition_kind import INHERITED
from nuggets.draft_reports import draftings
from nuggets.models import Drafting, Nugget, NuggetBank
from nuggets.paper_tables import EditRow, edit_rows

# What a difference calls what drafts call otherwise.
_CHANGES = {"edited": "reworded", "deleted": "dropped"}
CHANGES = ("kept", "reworded", "merged", "split", "dropped", "added", "undecided")
_ONE_TO_ONE = ("kept", "reworded")  # an inherited nugget that is one nugget still
COLUMNS = (
    *("topic", "former_topic", "place", "former_nugget", "former_importance", "change", "importance_changed"),
    *("nuggets", "importance"),
)


class Difference(NamedTuple):
    """A nugget of the former bank and what became of it, or one that was added."""

    row: EditRow

    @property
    def change(self) -> str:
        """One of CHANGES."""
        return _CHANGES.get(self.row.end, self.row.end)

    @property
    def is_kept(self) -> bool:
        """Whether it is one nugget still, reworded or not: those by which editions are compared."""
        return self.change in _ONE_TO_ONE

    @property
    def now(self) -> list[tuple[str, str]]:
        """The texts and importances on the list that it lives on in."""
        return list(zip(self.row.became, self.row.became_importance, strict=True))

    @property
    def importance_changed(self) -> bool:
        """Whether it is one nugget still, of another importance; of none there, or none yet, nothing changed."""
        [importance] = self.row.became_importance if self.is_kept else [""]
        return bool(importance and self.row.importance and importance != self.row.importance)


class TopicDifference(NamedTuple):
    """A topic with both banks. bank: None where nobody was given it yet."""

    topic: Topic
    drafting: Drafting
    bank: NuggetBank | None
    differences: list[Difference]

    @property
    def counts(self) -> Counter[str]:
        """How many nuggets changed in which way; as "importance" how many changed that."""
        counts = Counter(one.change for one in self.differences)
        counts["importance"] = sum(one.importance_changed for one in self.differences)
        return counts


def inherited_conditions(campaign: Campaign) -> QuerySet[Condition]:
    """Return a campaign's conditions under which people edit nuggets of a former edition, by name."""
    found = campaign.conditions.filter(method=INHERITED).order_by("name")
    return found.select_related(*Condition.TOLD_WITH, "campaign", "protocol", "import_record")


def topic_differences(condition: Condition) -> list[TopicDifference]:
    """Return all topics with a former bank under a condition, by topic id, as their lists stand now.

    Of several lists on a topic it is the one that was finished last, else the newest one.
    """
    found = []
    for drafting in draftings(condition):
        bank = max(drafting.banks.all(), key=_counts_last, default=None)
        differences = [Difference(row) for row in edit_rows(bank)] if bank else []
        found.append(TopicDifference(drafting.topic, drafting, bank, differences))
    return found


def _counts_last(bank: NuggetBank) -> tuple[bool, float, int]:
    at = bank.finished_at
    return at is not None, at.timestamp() if at else 0, bank.pk


def total(topics: Sequence[TopicDifference]) -> Counter[str]:
    """Add up the counts of topics."""
    return sum((topic.counts for topic in topics), Counter())


def kept_nuggets(condition: Condition) -> dict[int, int]:
    """Return the nuggets that are inherited ones, reworded or not, by key: their places in the former bank, from 1."""
    nuggets = Nugget.objects.filter(bank__condition=condition).exclude(draft=None)
    return {pk: place for pk, place in nuggets.order_by().values_list("pk", "draft") if place}


def difference_lines(condition: Condition) -> Iterator[str]:
    """Yield each nugget of the former banks with what became of it, and those added, as CSV."""
    rows = (
        (
            topic.topic.qid,
            topic.drafting.former_qid or topic.topic.qid,
            one.row.place,
            one.row.draft,
            one.row.importance,
            one.change,
            "yes" if one.importance_changed else "",
            "; ".join(one.row.became),
            "; ".join(one.row.became_importance),
        )
        for topic in topic_differences(condition)
        for one in topic.differences
    )
    return write_table(COLUMNS, rows)
