"""The only writers of ARGUE sheets: making them, what people and models say, and what banks and answers change."""

from assignment.argue.actions.auto_argue import Judged, add_lacking_sheets, store_judgments
from assignment.argue.actions.changes import bring_up_to_date, follow_edition, follow_sentences
from assignment.argue.actions.judged_reports import add_sheets, keys_of, sheet_row
from assignment.argue.actions.judging import flag, give_label, give_labels, mark_unjudgeable, put_off, sign_off
from assignment.argue.actions.preparation import create_manual_argue, follow_scope, prepare_sheets, renew_sheets
from assignment.argue.actions.resolution import decide_label, resolve_label
from assignment.argue.actions.run_texts import follow_texts, judged_docids

__all__ = [
    "Judged",
    "add_lacking_sheets",
    "add_sheets",
    "bring_up_to_date",
    "create_manual_argue",
    "decide_label",
    "flag",
    "follow_edition",
    "follow_scope",
    "follow_sentences",
    "follow_texts",
    "give_label",
    "give_labels",
    "judged_docids",
    "keys_of",
    "mark_unjudgeable",
    "prepare_sheets",
    "put_off",
    "renew_sheets",
    "resolve_label",
    "sheet_row",
    "sign_off",
    "store_judgments",
]
