"""The only writers of support judgments."""

from support.actions.auto_support import MOVED, add_lacking_sheets, store_labels
from support.actions.changed_answers import follow_citations
from support.actions.equal_pairs import note_equal
from support.actions.judged_answers import add_sheets, open_waiting, resolve, sheet_row
from support.actions.judging import flag, give_label, mark_unjudgeable, put_off, show, sign_off, why_closed
from support.actions.preparation import create_support, follow_scope, open_labelled, prepare_sheets, renew_sheets
from support.actions.resolution import leave_out, resolve_label
from support.actions.run_texts import follow_texts, judged_docids

__all__ = [
    "MOVED",
    "add_lacking_sheets",
    "add_sheets",
    "create_support",
    "flag",
    "follow_citations",
    "follow_scope",
    "follow_texts",
    "give_label",
    "judged_docids",
    "leave_out",
    "mark_unjudgeable",
    "note_equal",
    "open_labelled",
    "open_waiting",
    "prepare_sheets",
    "put_off",
    "renew_sheets",
    "resolve",
    "resolve_label",
    "sheet_row",
    "show",
    "sign_off",
    "store_labels",
    "why_closed",
]
