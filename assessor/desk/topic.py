"""What the page of one topic reads."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.core.paginator import Page
from django.http import QueryDict

from assessor.campaigns.models import Campaign, Grade, QrelsSource, Topic
from assessor.campaigns.queries import segments_by_docid
from assessor.desk.collection import Mark, makers_of
from assessor.desk.listing import paged
from nuggets.condition_kind import Nuggets, nugget_kind
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import nuggets_in_order

_PASSAGES = 20


class NuggetColumn(NamedTuple):
    """The nuggets of a topic under a condition."""

    bank: NuggetBank
    makers: Sequence[Mark]
    nuggets: Sequence[Nugget]

    @property
    def kind(self) -> Nuggets:
        return nugget_kind(self.bank.condition)

    @property
    def vital(self) -> int:
        return sum(one.importance == Nugget.Importance.VITAL for one in self.nuggets)


class GradedPassage(NamedTuple):
    """A passage with the grade that each source gave it, "" where it gave none."""

    docid: str
    title: str
    text: str | None
    grades: Sequence[int | str]


class Passages(NamedTuple):
    """The graded passages of a topic, those of the highest grade first."""

    sources: Sequence[QrelsSource]
    page: Page[Any]
    rows: Sequence[GradedPassage]


def nuggets_on(topic: Topic) -> list[NuggetColumn]:
    """Return the lists of nuggets of a topic, by condition."""
    banks = NuggetBank.objects.filter(topic=topic).select_related("maker", "condition__judge", "condition__nuggets")
    in_order = banks.prefetch_related("nuggets").order_by("condition__name", "pk")
    return [NuggetColumn(bank, makers_of(bank), nuggets_in_order(bank)) for bank in in_order]


def passages_on(campaign: Campaign, topic: Topic, asked: QueryDict) -> Passages:
    """Return a page of the topic's graded passages. People's grades go first, then the higher ones."""
    sources = sorted(campaign.qrels_sources.all(), key=lambda source: (source.by != QrelsSource.By.PEOPLE, source.name))
    grades: Mapping[str, dict[int, int]] = defaultdict(dict)
    for docid, source, grade in Grade.objects.filter(topic=topic).order_by().values_list("docid", "source", "grade"):
        grades[docid][source] = grade
    own = [source for source in sources if any(source.pk in of_docid for of_docid in grades.values())]

    def place(docid: str) -> tuple[Any, ...]:
        return *(-grades[docid].get(source.pk, -1) for source in own), docid

    page = paged(asked, sorted(grades, key=place), _PASSAGES)
    segments = segments_by_docid(campaign, page.object_list)
    rows = [
        GradedPassage(
            docid,
            segments[docid].title if docid in segments else "",
            segments[docid].text if docid in segments else None,
            [grades[docid].get(source.pk, "") for source in own],
        )
        for docid in page
    ]
    return Passages(own, page, rows)


def neighbours(campaign: Campaign, topic: Topic) -> tuple[Topic | None, Topic | None]:
    """Return the topics before and after one, by topic id."""
    in_order = campaign.topics.order_by("qid")
    return in_order.filter(qid__lt=topic.qid).last(), in_order.filter(qid__gt=topic.qid).first()
