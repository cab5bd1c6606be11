"""The only writers of support judgments."""

from support.actions.auto import MOVED, add_lacking_sheets, store_labels
from support.actions.equal import note_equal
from support.actions.joining import follow_citations
from support.actions.judging import flag, give_label, put_off, say_cannot, show, sign_off, why_closed
from support.actions.preparing import (
    create_support,
    follow_scope,
    open_labelled,
    prepare_sheets,
    renew_sheets,
)
from support.actions.resolving import adopt_label, leave_out
from support.actions.sheets import add_sheets, open_waiting, resolve, sheet_row
from support.actions.texts import follow_texts, judged_docids

__all__ = [
    "MOVED",
    "add_lacking_sheets",
    "add_sheets",
    "adopt_label",
    "create_support",
    "flag",
    "follow_citations",
    "follow_scope",
    "follow_texts",
    "give_label",
    "judged_docids",
    "leave_out",
    "note_equal",
    "open_labelled",
    "open_waiting",
    "prepare_sheets",
    "put_off",
    "renew_sheets",
    "resolve",
    "say_cannot",
    "sheet_row",
    "show",
    "sign_off",
    "store_labels",
    "why_closed",
]
