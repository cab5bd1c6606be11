"""The passages that are graded: those of the pool, taken in with their texts as files are."""

import tempfile
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Import
from assessor.campaigns.queries import byte_order, pooled, pooled_passages, segment_texts
from assessor.imports import importer
from assessor.imports.management.import_command import import_file
from assignment.grading.formats import write_passage


class PassageError(Exception):
    """No passages can be taken in; the text says why, and what to do."""


def add_pooled_passages(campaign: Campaign, *, acting_user: Person | None) -> int:
    """Take in the pool's passages that have a text and were not taken in yet; return how many these were.

    Raises PassageError.
    """
    with tempfile.TemporaryDirectory(prefix="assay-passages-") as folder:
        path = Path(folder) / "file"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_lines(campaign))
        if not path.stat().st_size:
            raise PassageError(
                "The pool has no further passage with a text. Upload retrieval runs, whose first passages make the "
                "pool, and the texts of these."
            )
        try:
            made = import_file(campaign, "passages", path, file_name="passages of the pool", person=acting_user)
        except importer.Busy as busy:
            raise PassageError(f"{busy} Try again when it is over.") from busy
    if made.state != Import.State.DONE:
        problems = [f"{one['found']}: expected {one['expected']}" for one in made.report["errors"][:1]]
        raise PassageError(f"The passages were not taken in ({made.get_state_display()}). {' '.join(problems)}".strip())
    return int(made.report["counts"].get("passages added", 0))


def _lines(campaign: Campaign) -> Iterator[str]:
    """Yield a line for each of the pool's passages with a text that was not taken in, by topic id and docid."""
    ranked = pooled(campaign).order_by(byte_order("topic__qid"), byte_order("docid"))
    rows = ranked.values_list("topic__qid", "topic", "docid").distinct()
    for (qid, topic), of_topic in groupby(rows.iterator(), itemgetter(0, 1)):
        there = {docid for [docid] in pooled_passages([topic]).values_list("references", flat=True)}
        new = [docid for _, _, docid in of_topic if docid not in there]
        texts = segment_texts(campaign, new)
        yield from (write_passage(qid, docid, texts[docid]) for docid in new if docid in texts)
