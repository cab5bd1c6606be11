"""The passages that are graded: those of the pool, taken in with their texts as files are."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Topic
from assessor.campaigns.queries import byte_order, pooled, pooled_passages, segment_texts
from assessor.imports.made_files import NotImported, import_lines
from assignment.grading.formats import write_passage


class PassageError(Exception):
    """No passages can be taken in; the text says why, and what to do."""


def add_pooled_passages(campaign: Campaign, *, acting_user: Person | None) -> int:
    """Take in the pool's passages that have a text and were not taken in yet; return how many these were.

    Raises PassageError.
    """
    lines = _lines(campaign)
    first = next(lines, None)
    if first is None:
        raise PassageError(
            "The pool has no further passage with a text. Upload retrieval runs, whose first passages make the pool, "
            "and the texts of these."
        )
    try:
        made = import_lines(campaign, "passages", "passages of the pool", chain([first], lines), acting_user)
    except NotImported as error:
        raise PassageError(str(error)) from error
    return int(made.report["counts"].get("passages added", 0))


def docids_of_passages(passages: Collection[int]) -> dict[int, str]:
    """Return the docids of passages that are graded, by their keys as answers."""
    rows = Answer.objects.filter(pk__in=passages).order_by().values_list("pk", "references")
    return {pk: docid for pk, [docid] in rows.iterator()}


def passages_on(topics: Sequence[Topic]) -> Iterator[tuple[int, str]]:
    """Yield topic's key and docid of the passages that were taken in to be graded."""
    passages = pooled_passages([topic.pk for topic in topics]).order_by().values_list("topic", "references")
    return ((topic, docid) for topic, [docid] in passages.iterator())


def _lines(campaign: Campaign) -> Iterator[str]:
    """Yield a line for each of the pool's passages with a text that was not taken in, by topic id and docid."""
    ranked = pooled(campaign).order_by(byte_order("topic__qid"), byte_order("docid"))
    rows = ranked.values_list("topic__qid", "topic", "docid").distinct()
    for (qid, topic), of_topic in groupby(rows.iterator(), itemgetter(0, 1)):
        there = {docid for [docid] in pooled_passages([topic]).values_list("references", flat=True)}
        new = [docid for _, _, docid in of_topic if docid not in there]
        texts = segment_texts(campaign, new)
        yield from (write_passage(qid, docid, texts[docid]) for docid in new if docid in texts)
