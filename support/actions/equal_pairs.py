"""Equal pairs: the same sentence with the same cited passage, docid and text, in several answers to a topic.

Where the protocol says that a judge judges them once, each citation names the one of its equals that is asked
(SupportJudgment.equal_to). What is said of that one is written on all, each with an event that names it: so all that
reads labels needs to know nothing of it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assessor.campaigns.models import Condition
from assessor.campaigns.passages import own_versions
from assessor.work.write_protocol import Stale
from support.actions.judged_answers import lock
from support.citations import EQUAL, Cited, pair
from support.models import SupportJudgment, SupportSheet

_VERB = "judged with equal"


def note_equal(condition: Condition, topic: int) -> None:
    """Note which citations on a condition's sheets of a topic, by its key, are equal.

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
        (sheet, key, Cited(sheet.answer.content[row.sentence]["text"], row.docid))
        for sheet in in_order
        for key, row in ((key, sheet.labels_by_item[key]) for key in sheet.open)
    ]
    versions = own_versions((sheet.answer.run_id, cited.docid) for sheet, _, cited in found)
    groups: dict[tuple[object, ...], list[_At]] = defaultdict(list)
    for sheet, key, cited in found:
        version = versions.get((sheet.answer.run_id, cited.docid), "")
        groups[sheet.task_id, pair(*cited, version)].append(_At(sheet, key))
    asked = {row.equal_to_id for sheet in sheets for row in sheet.labels_by_item.values()}
    firsts: dict[int, int] = {}  # of each row in a group that which is asked
    lacking: dict[int, dict[str, _At]] = defaultdict(dict)
    for alike in groups.values():
        if len(alike) == 1:
            continue
        alike.sort(key=lambda at: (not at.is_said, at.row.pk not in asked))
        for at in alike:
            firsts[at.row.pk] = alike[0].row.pk
            if alike[0].is_said and not at.is_said:
                lacking[at.sheet.pk][at.key] = alike[0]
    _save(sheets, firsts)
    for sheet in sheets:
        if new := lacking[sheet.pk]:
            said = {
                key: {"label": at.sheet.labels.get(at.key), "cannot": at.sheet.cannot.get(at.key)}
                for key, at in new.items()
            }
            say_of_equal(sheet, said, {key: at.row.pk for key, at in new.items()})


class _At(NamedTuple):
    """Where a citation stands."""

    sheet: SupportSheet
    key: str

    @property
    def row(self) -> SupportJudgment:
        row: SupportJudgment = self.sheet.labels_by_item[self.key]
        return row

    @property
    def is_said(self) -> bool:
        return self.sheet.is_said(self.key)


def _save(sheets: Sequence[SupportSheet], firsts: Mapping[int, int]) -> None:
    """Save which one of each group is asked. No change of what anybody said, so no event."""
    changed: dict[int | None, list[int]] = defaultdict(list)
    for sheet in sheets:
        for row in sheet.labels_by_item.values():
            if row.equal_to_id != firsts.get(row.pk):
                row.equal_to_id = firsts.get(row.pk)
                changed[row.equal_to_id].append(row.pk)
    for first, rows in changed.items():
        SupportJudgment.everything.filter(pk__in=rows).update(equal_to=first)


def lock_equal(sheet: SupportSheet, citation: str) -> tuple[list[str], list[tuple[SupportSheet, list[str]]]]:
    """Lock a sheet and those on which citations stand that are equal to one of its, in the order of their keys.

    Return the equal ones on the sheet itself, and the other sheets with theirs. Raises Stale where it was noted
    meanwhile that others are equal.
    """
    row = sheet.labels_by_item.get(citation)
    if row is None or row.equal_to_id is None:
        return [], []
    alike = _alike(row.equal_to_id)
    # Two labels of one person may each be for sheets of both: whoever locks several does it in one order.
    locked = SupportSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(pk__in=set(alike.values()))
    rows = list(SupportSheet.with_items(locked.order_by("pk")))
    if row.pk not in alike or _alike(row.equal_to_id) != alike:
        raise Stale
    found = [
        (one, [key for key, of_one in one.labels_by_item.items() if of_one.pk in alike and of_one.pk != row.pk])
        for one in rows
    ]
    here = next(keys for one, keys in found if one.pk == sheet.pk)
    return here, [(one, keys) for one, keys in found if one.pk != sheet.pk]


def has_equal(row: int) -> bool:
    """Say whether it is noted by now that other citations are equal to one, by its row's key."""
    return SupportJudgment.everything.filter(pk=row, equal_to__isnull=False).exists()


def _alike(first: int) -> dict[int, int]:
    """Return the citations of a group, by the key of each the key of its sheet; first: that which is asked."""
    return dict(SupportJudgment.everything.filter(equal_to=first).values_list("pk", "sheet"))


def say_of_equal(
    sheet: SupportSheet,
    said: Mapping[str, Mapping[str, Any]],
    of: Mapping[str, int],
    job_id: int | None = None,
    guidelines_version: int | None = None,
) -> None:
    """Write on a locked sheet, for its judge, what is said of equal citations. of: the row of each one's equal."""
    sheet.revise(
        _VERB,
        said,
        judge_id=sheet.judge_id,
        task_id=sheet.task_id,
        job_id=job_id,
        guidelines_version=guidelines_version,
        notes={key: {EQUAL: row} for key, row in of.items()},
    )
