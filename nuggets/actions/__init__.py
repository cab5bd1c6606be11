"""The only writers of banks: making them, edits of the list, notes beside it, handing it in and giving it back."""

from nuggets.actions.base import MAX_CHARACTERS, redo, undo
from nuggets.actions.edits import (
    add_nugget,
    attach_evidence,
    delete_nugget,
    detach_evidence,
    keep_draft,
    merge_nuggets,
    move_nugget,
    reword_nugget,
    set_importance,
    split_nugget,
)
from nuggets.actions.exposure import see_nuggets
from nuggets.actions.finishing import NotReady, ReopenError, finish_bank, reopen_bank
from nuggets.actions.notes import mark_passage, set_note, set_reading
from nuggets.actions.preparation import create_manual_nuggets, prepare_bank

__all__ = [
    "MAX_CHARACTERS",
    "NotReady",
    "ReopenError",
    "add_nugget",
    "attach_evidence",
    "create_manual_nuggets",
    "delete_nugget",
    "detach_evidence",
    "finish_bank",
    "keep_draft",
    "mark_passage",
    "merge_nuggets",
    "move_nugget",
    "prepare_bank",
    "redo",
    "reopen_bank",
    "reword_nugget",
    "see_nuggets",
    "set_importance",
    "set_note",
    "set_reading",
    "split_nugget",
    "undo",
]
