"""Sentences and the passages that they cite, with everybody's labels side by side, for organizers."""

from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeVar

from django.core.paginator import Paginator
from django.db.models import Model
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from support.citations import NOT_JUDGED
from support.label_kind import SUPPORT
from support.pairs import STATES, Wanted, differ, pairs_of, shown, supporting, topics_with_sheets

Record = TypeVar("Record", bound=Model)
_ON_A_PAGE = 15


class Side(NamedTuple):
    """What the form asks of one condition: the names of its fields, and what is chosen."""

    name: str
    label: str
    condition: Condition | None
    state: str


@require_safe
def pairs(request: PersonRequest, slug: str) -> HttpResponse:
    """The pairs of one topic."""
    campaign = organized_campaign(request.user, slug)
    conditions, topics, runs = supporting(campaign), topics_with_sheets(campaign), list(campaign.runs.all())
    topic = _chosen(request, "topic", campaign.topics.all()) or next(iter(topics), None)
    run = _chosen(request, "run", runs)
    sides = [
        Side(name, label, _chosen(request, name, conditions), _word(request, f"{name}_says", STATES))
        for name, label in (("a", "A"), ("b", "B"))
    ]
    only_differing, with_words = (_word(request, name, ("1",)) == "1" for name in ("differ", "words"))
    found = pairs_of(topic, conditions) if topic else []
    columns = [one for one in conditions if any(one.pk in pair.has_sheet for pair in found)]
    wanted = [Wanted(side.condition.pk if side.condition else None, side.state) for side in sides]
    both = [one.condition for one in wanted if one.condition is not None]
    compared = both if len(both) == len(wanted) else [one.pk for one in columns]
    columns = [one for one in columns if one.pk in compared]
    kept = [
        pair
        for pair in found
        if (run is None or pair.answer.run_id == run.pk)
        and all(one.holds(pair.said) for one in wanted)
        and (not only_differing or differ(pair.said, compared))
    ]
    page = Paginator(kept, _ON_A_PAGE).get_page(request.GET.get("page"))
    labels_by = SUPPORT.scoring().labels_by
    context = {
        "campaign": campaign,
        "topics": topics if topic is None or topic in topics else [topic, *topics],
        "topic": topic,
        "runs": runs,
        "run": run,
        "conditions": conditions,
        "states": STATES,
        "sides": sides,
        "differ": only_differing,
        "words": with_words,
        "columns": [(one, labels_by(one)) for one in columns],
        "all": len(found),
        "page": page,
        "rows": shown(campaign, list(page), columns, with_words=with_words),
        "not_judged": NOT_JUDGED,
    }
    return render(request, "support/pairs.html", context)


def _chosen(request: PersonRequest, name: str, among: Iterable[Record]) -> Record | None:
    """Return the record that the address names by its key, None where it names none. Raises Http404 for any other."""
    wanted = request.GET.get(name, "")
    if not wanted:
        return None
    for record in among:
        if str(record.pk) == wanted:
            return record
    raise Http404(f"There is no such {name} in this campaign.")


def _word(request: PersonRequest, name: str, among: Collection[str]) -> str:
    wanted = request.GET.get(name, "")
    if wanted and wanted not in among:
        raise Http404(f"{name} can't be that.")
    return wanted
