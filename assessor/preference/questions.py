"""What people left open for the organizer: pairs that they could not judge, and flags."""

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Max, Q

from assessor.campaigns.models import Campaign
from assessor.labels.flags import LEFT_OPEN, Asked, Place, Reading, reading
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.models import PreferencePair
from assessor.work.models import Reply


def open_questions(campaign: Campaign) -> Iterator[Asked]:
    """Yield what people ask about pairs."""
    pairs = PreferencePair.objects.filter(LEFT_OPEN, task__campaign=campaign).order_by("pk")
    for pair in pairs.annotate(last=Max("revisions__at", filter=Q(revisions__task__isnull=False))):
        [cannot], [flag], [adopted] = (
            [standing.get(pair.item, "")] for standing in (pair.cannot, pair.flags, pair.adopted)
        )
        yield Asked(PREFERENCE.name, pair.task_id or 0, pair.pk, pair.item, cannot, flag, adopted, pair.last)


def described(places: Sequence[Place]) -> dict[Place, tuple[str, str]]:
    """Return how pairs' texts begin, in the order in which they are shown, and apart from that the runs."""
    pairs = _pairs(places)
    return {place: (_words(pairs[place]), _runs(pairs[place])) for place in places if place in pairs}


def readings(places: Sequence[Place]) -> dict[Place, Reading]:
    """Return both texts of pairs, as they are shown."""
    return {place: reading("Both answers", both_texts(pair)) for place, pair in _pairs(places).items()}


def places_of(replies: Sequence[Reply]) -> dict[int, Place]:
    """Return which pairs replies were given on, by reply's key."""
    conditions, topics = {one.task.condition_id for one in replies}, {one.task.topic_id for one in replies}
    known = PreferencePair.objects.filter(condition__in=conditions, topic__in=topics)
    known = known.filter(position__in={int(one.item) for one in replies if one.item.isdecimal()})
    keys = {(condition, topic, str(at)): pk for condition, topic, at, pk in known.values_list(*_NAMED, "pk")}
    named = {one.pk: (one.task.condition_id, one.task.topic_id, one.item) for one in replies}
    return {pk: (keys[name], name[2]) for pk, name in named.items() if name in keys}


_NAMED = ("condition", "topic", "position")
_BEGINNING = 60  # characters


def both_texts(pair: PreferencePair) -> str:
    """Return both texts in the order in which they are shown. No run is named."""
    return "\n\n".join(f"Answer {number}: {answer.text}" for number, answer in enumerate(pair.as_shown, 1))


def _pairs(places: Sequence[Place]) -> Mapping[Place, PreferencePair]:
    found = PreferencePair.objects.filter(pk__in={sheet for sheet, _ in places})
    pairs = found.select_related("first__run", "second__run").in_bulk()
    return {(sheet, item): pairs[sheet] for sheet, item in places if sheet in pairs and pairs[sheet].item == item}


def _words(pair: PreferencePair) -> str:
    return " or ".join(_beginning(answer.text) for answer in pair.as_shown)


def _beginning(text: str) -> str:
    return f"“{text[:_BEGINNING].rstrip()}…”" if len(text) > _BEGINNING else f"“{text}”"


def _runs(pair: PreferencePair) -> str:
    return " and ".join(answer.run.tag for answer in pair.as_shown)
