"""Files change loaded answers, or the texts behind their citations: what each kind has to say and to do then."""

from collections.abc import Collection, Mapping, Sequence

from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Answer, Run, Sentence


class JudgedBySegments(Exception):
    """Citations of a run were judged while texts of its own were imported for them."""


def answers_changed(answers: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Tell all kinds, in the transaction that changes the answers, of these with their sentences before."""
    for kind in condition_kinds():
        kind.on_answers_changed(answers)


def judged_by_segments(run: Run, docids: Collection[str]) -> set[str]:
    """Return those of the docids of which citations of the run were judged here."""
    return {docid for kind in condition_kinds() for docid in kind.judged_by_segments(run, docids)}


def texts_replaced(run: Run, docids: Collection[str]) -> None:
    """Tell all kinds, in the transaction that makes the texts visible. Raises JudgedBySegments."""
    for kind in condition_kinds():
        kind.on_texts_replaced(run, docids)
