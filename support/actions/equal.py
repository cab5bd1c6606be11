"""Equal pairs: the same sentence with the same cited passage, docid and text, in several answers to a topic.

Where the protocol says that a judge judges them once, each sheet notes which of its citations are equal to which others
of the same judge's, and which of these is asked. What is said of that one is written on the sheets of all, by revisions
of their own that name it: so all that reads sheets needs to know nothing of it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from assessor.collection.models import Condition
from assessor.collection.passages import own_versions
from assessor.work.sheets import is_said, revise
from assessor.work.writes import Stale
from support.actions.sheets import lock
from support.citations import EQUAL, cited_in, pair
from support.models import SupportSheet

_VERB = "judged with equal"


def note_equal(condition: Condition, topic: int) -> None:
    """Note on a condition's sheets of a topic, by its key, which of their citations are equal.

    Asked is the first one of which something is said; where nothing is, the one that was asked before, else the first
    in its judge's order. Those of which nothing is said get what is said of it. A person's are equal among those of
    their task alone. The counters of tasks are not brought up to date by this. It is called in a transaction.
    """
    if not condition.protocol.equal_pairs_once:
        return
    sheets = lock(topic, SupportSheet.objects.filter(condition=condition).select_related("answer"))
    # What has given way to the run's own answer is asked of nobody, so it comes last.
    in_order = sorted(sheets, key=lambda one: (one.answer.apart, one.place, one.pk))
    found = [
        (sheet, key, cited)
        for sheet in in_order
        for key, cited in cited_in(list(sheet.answer.sentences()), sheet.open).items()
    ]
    versions = own_versions((sheet.answer.run_id, cited.docid) for sheet, _, cited in found)
    places: dict[tuple[object, ...], list[tuple[SupportSheet, str]]] = defaultdict(list)
    for sheet, key, cited in found:
        version = versions.get((sheet.answer.run_id, cited.docid), "")
        places[sheet.task_id, pair(*cited, version)].append((sheet, key))
    equal: dict[int, dict[str, list[list[Any]]]] = defaultdict(dict)
    lacking: dict[int, dict[str, tuple[SupportSheet, str]]] = defaultdict(dict)
    for alike in places.values():
        if len(alike) == 1:
            continue
        alike.sort(key=_rank)
        named = [[sheet.pk, key] for sheet, key in alike]
        for sheet, key in alike:
            equal[sheet.pk][key] = named
            if is_said(*alike[0]) and not is_said(sheet, key):
                lacking[sheet.pk][key] = alike[0]
    for sheet in sheets:
        if sheet.equal != equal[sheet.pk]:
            # No change of what anybody said, so no revision.
            SupportSheet.objects.filter(pk=sheet.pk).update(equal=equal[sheet.pk])
        if new := lacking[sheet.pk]:
            said = {
                key: {"label": first.labels.get(of_first), "cannot": first.cannot.get(of_first)}
                for key, (first, of_first) in new.items()
            }
            say_of_equal(sheet, said, {key: [first.pk, of_first] for key, (first, of_first) in new.items()})


def _rank(at: tuple[SupportSheet, str]) -> tuple[bool, bool]:
    sheet, key = at
    is_asked = key in sheet.equal and key not in sheet.settled_elsewhere
    return not is_said(sheet, key), not is_asked


def lock_equal(sheet: SupportSheet, citation: str) -> tuple[list[str], list[tuple[SupportSheet, list[str]]]]:
    """Lock a sheet and those on which citations stand that are equal to one of its, in the order of their keys.

    Return the equal ones on the sheet itself, and the other sheets with theirs. Raises Stale where it was noted
    meanwhile that others are equal.
    """
    if citation not in sheet.equal:
        return [], []
    equal: dict[int, list[str]] = {sheet.pk: []}
    for pk, key in sheet.equal[citation]:
        equal.setdefault(pk, []).append(key)
    # Two labels of one person may each be for sheets of both: whoever locks several does it in one order.
    rows = SupportSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(pk__in=equal).order_by("pk")
    locked = {row.pk: row for row in rows}
    if locked.pop(sheet.pk).equal.get(citation) != sheet.equal[citation]:
        raise Stale
    here = [key for key in equal[sheet.pk] if key != citation]
    return here, [(other, equal[pk]) for pk, other in locked.items()]


def say_of_equal(
    sheet: SupportSheet,
    said: Mapping[str, Mapping[str, Any]],
    of: Mapping[str, Sequence[Any]],
    job_id: int | None = None,
    guidelines_version: int | None = None,
) -> None:
    """Write on a locked sheet, for its judge, what is said of equal citations: of which, by its own ([sheet, key])."""
    notes = {key: {EQUAL: list(which)} for key, which in of.items()}
    revise(
        sheet,
        _VERB,
        said,
        judge_id=sheet.judge_id,
        task_id=sheet.task_id,
        job_id=job_id,
        guidelines_version=guidelines_version,
        notes=notes,
    )
