"""Whose output a file shows, and on which topics: noted when it is made, and recorded of whoever takes it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from assessor.campaigns.models import Condition, QrelsSource, Topic
from assessor.exportables import Chosen, Exportable
from assessor.work.exposure import Seen

_CONDITION, _SOURCE = "condition", "source"

# For each that is shown: which of these two it is, its key, and those of the topics.
Shown = Sequence[tuple[str, int, Sequence[int]]]


def shown_in(parts: Iterable[tuple[Exportable, Chosen]], before: Shown = ()) -> Shown:
    """Return what files of these parts show as things stand, and what they showed before."""
    found: dict[tuple[str, int], set[int]] = defaultdict(set)
    for what, key, topics in before:
        found[what, key].update(topics)
    for kind, chosen in parts:
        for seen, on in kind.shows(chosen):
            what = _SOURCE if isinstance(seen, QrelsSource) else _CONDITION
            found[what, seen.pk].update(on.values_list("pk", flat=True))
    return [(what, key, sorted(topics)) for (what, key), topics in found.items()]


def kept(shown: Shown) -> Seen:
    """Yield what was noted to be shown: each condition or source of grades, and the topics."""
    for what, key, topics in shown:
        seen = QrelsSource.objects.get(pk=key) if what == _SOURCE else Condition.objects.get(pk=key)
        yield seen, Topic.objects.filter(pk__in=topics)
