"""Find: topics, runs, people, conditions and pages by what is typed."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse

from assessor.campaigns.models import Campaign
from assessor.desk.listing import holds
from assessor.desk.navigation import GROUPS
from assessor.exports.registry import EXPORTABLES

AT_MOST = 20


class Hit(NamedTuple):
    """Something that was found. about: what tells it from others; is_exact: it is called what is looked for."""

    name: str
    about: str
    address: str
    is_exact: bool = False


class Hits(NamedTuple):
    """What was found of a kind, the first AT_MOST. icon: of the kind; more: whether there are others."""

    label: str
    icon: str
    found: Sequence[Hit]
    more: bool

    @property
    def listed(self) -> Sequence[Hit]:
        return self.found[:AT_MOST]


def find(campaign: Campaign, q: str) -> list[Hits]:
    """Return what is called like this; kinds of which nothing is are left out."""
    slug = campaign.slug

    def page(name: str, *of: Any) -> str:
        return reverse(name, args=[slug, *of])

    topics = campaign.topics.filter(Q(qid__icontains=q) | Q(title__icontains=q)).order_by("qid")
    alias = Q(aliases__name__icontains=q)
    runs = campaign.runs.filter(Q(tag__icontains=q) | Q(team__icontains=q) | alias).distinct().order_by("tag")
    docids = campaign.segments.filter(docid__icontains=q).order_by("docid")
    people = campaign.memberships.filter(until=None, person__username__icontains=q).select_related("person")
    conditions = campaign.conditions.filter(name__icontains=q).order_by("name")
    pages = [
        Hit(item.label, group.label, page(item.name))
        for group in GROUPS
        for item in group.items
        if holds(q, item.label, group.label)
    ]
    files = [
        Hit(kind.name_on_page, "Exports", f"{page('exports')}?{urlencode({'q': kind.name_on_page})}")
        for kind in EXPORTABLES
        if holds(q, kind.name_on_page, kind.name)
    ]
    same = q.casefold()
    of_kinds = {
        ("Topics", "topics"): [
            Hit(one.title, one.qid, page("topic", one.pk), same in (one.qid.casefold(), one.title.casefold()))
            for one in topics[: AT_MOST + 1]
        ],
        ("Runs", "runs"): [
            Hit(one.tag, one.team, page("run", one.pk), one.tag.casefold() == same) for one in runs[: AT_MOST + 1]
        ],
        ("Passages", "file"): [
            Hit(docid, "", f"{page('passages')}?{urlencode({'q': docid})}", docid.casefold() == same)
            for docid in docids.values_list("docid", flat=True)[: AT_MOST + 1]
        ],
        ("People", "people"): [
            Hit(str(one.person), one.get_role_display(), page("person", one.person_id))
            for one in people.order_by("person__username")[: AT_MOST + 1]
        ],
        ("Conditions", "grid"): [
            Hit(one.name, one.kind, page("condition", one.pk)) for one in conditions[: AT_MOST + 1]
        ],
        ("Pages", "file"): pages,
        ("Files to download", "down"): files,
    }
    return [Hits(*kind, found, len(found) > AT_MOST) for kind, found in of_kinds.items() if found]


def only_exact(groups: Sequence[Hits]) -> Hit | None:
    """Return the one topic, run or passage that is called what was looked for, if there is one alone."""
    exact = [hit for group in groups for hit in group.found if hit.is_exact]
    return exact[0] if len(exact) == 1 else None
