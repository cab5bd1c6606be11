"""The only writers of answer sheets: making them, what people say on them, what models do, and what banks change."""

from assignment.actions.auto_assign import add_lacking_sheets, store_labels
from assignment.actions.changed_answers import follow_sentences
from assignment.actions.finished_banks import follow_edition
from assignment.actions.labelling import (
    flag,
    give_label,
    mark_unjudgeable,
    mark_words,
    put_off,
    show,
    sign_off,
    why_closed,
)
from assignment.actions.preparation import (
    create_manual_assign,
    follow_scope,
    open_labelled,
    prepare_sheets,
    renew_sheets,
    usual_name,
)
from assignment.actions.resolution import leave_out, resolve_label

__all__ = [
    "add_lacking_sheets",
    "create_manual_assign",
    "flag",
    "follow_edition",
    "follow_scope",
    "follow_sentences",
    "give_label",
    "leave_out",
    "mark_unjudgeable",
    "mark_words",
    "open_labelled",
    "prepare_sheets",
    "put_off",
    "renew_sheets",
    "resolve_label",
    "show",
    "sign_off",
    "store_labels",
    "usual_name",
    "why_closed",
]
