"""What people were shown and what they gave, as a table."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from assessor.collection.formats.tables import write_table
from assessor.collection.models import Answer, Condition, Run, Topic
from assessor.collection.queries import byte_order, without_practice
from assessor.work.sheets import MOVED_TO
from support.citations import EQUAL, places
from support.models import Revision

_COLUMNS = (
    *("topic", "run", "sentence", "citation", "docid", "judge", "label", "shown", "differs", "reason", "taken_back"),
    *("with_equal", "seconds", "at", "guidelines_version"),
)
_READ = (
    *("sheet", "sheet__answer__topic__qid", "sheet__answer__run__tag", "sheet__answer__content"),
    *("sheet__answer__references", "judge__name", "changes", "seconds", "at", "guidelines_version"),
)
_AT_A_TIME = 500


def judgment_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield all that was said of citations under a condition, by topic and run in byte order; the latest counts.

    Where topics or runs are named, it is of these alone.

    sentence and citation are counted from 0. differs is empty where no label was shown or none given. Where taken_back
    says yes, what was said before no longer counts; where with_equal does, it was said of an equal sentence that cites
    the same, and the seconds are told there.
    """
    told = Revision.objects.filter(sheet__condition=condition, sheet__out_of_scope=False)
    told = without_practice(told, "sheet__answer")
    if topics is not None:
        told = told.filter(sheet__answer__topic__in=[topic.pk for topic in topics])
    if runs is not None:
        told = told.filter(sheet__answer__run__in=[run.pk for run in runs])
    told = told.order_by(
        byte_order("sheet__answer__topic__qid"), byte_order("sheet__answer__run__tag"), "sheet", "version"
    )
    rows = told.values_list(*_READ).iterator(_AT_A_TIME)
    return write_table(_COLUMNS, (row for _, of_sheet in groupby(rows, itemgetter(0)) for row in _of_sheet(of_sheet)))


def _of_sheet(found: Iterator[tuple[Any, ...]]) -> Iterator[tuple[object, ...]]:
    revisions = list(found)
    shown: dict[str, str] = {}
    for (_, topic, run, content, references, judge, changes, seconds, at, read), now in zip(
        revisions, _moves([row[6] for row in revisions]), strict=True
    ):
        if any(MOVED_TO in change for change in changes.values()):
            shown = {dict(_moved(changes)).get(key, key): label for key, label in shown.items()}
            continue
        sentences = list(Answer(content=content, references=references).sentences())
        for key, change in changes.items():
            sentence, citation = places(now.get(key, key))
            given = [change[name] for name in ("label", "cannot") if name in change]
            if given:
                label, reason = (change.get(name, (None, None))[1] for name in ("label", "cannot"))
                beside = shown.get(key)
                differs = None if label is None or beside is None else "no" if label == beside else "yes"
                docid = sentences[sentence].citations[citation].docid
                is_back = "no" if label or reason else "yes"
                with_equal, spent = ("yes", None) if EQUAL in change else ("no", seconds)
                said = (judge, label, beside, differs, reason or "", is_back, with_equal, spent, at.isoformat(), read)
                yield (topic, run, sentence, citation, docid, *said)
            if "shown" in change:
                shown[key] = change["shown"][1]


def _moves(revisions: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return for each revision's changes where the citations that it is about are now: their keys, if others."""
    now: dict[str, str] = {}
    found = []
    for changes in reversed(revisions):
        found.append(now)
        if moved := _moved(changes):
            unmoved = {key: last for key, last in now.items() if key not in {after for _, after in moved}}
            now = unmoved | {before: now.get(after, after) for before, after in moved}
    return found[::-1]


def _moved(changes: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (before, after)
        for change in changes.values()
        for before, after in [change.get(MOVED_TO, (None, None))]
        if after
    ]
