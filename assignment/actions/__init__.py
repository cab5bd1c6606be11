"""The only writers of answer sheets: making them, what people say on them, what models do, and what banks change."""

from assignment.actions.auto import add_lacking_sheets, store_labels
from assignment.actions.following import follow_edition
from assignment.actions.joining import follow_sentences
from assignment.actions.labelling import (
    flag,
    give_label,
    mark_words,
    put_off,
    say_cannot,
    sign_off,
    why_closed,
)
from assignment.actions.preparing import (
    create_manual_assign,
    follow_scope,
    prepare_sheets,
    renew_sheets,
    usual_name,
)
from assignment.actions.resolving import adopt_label, leave_out

__all__ = [
    "add_lacking_sheets",
    "adopt_label",
    "create_manual_assign",
    "flag",
    "follow_edition",
    "follow_scope",
    "follow_sentences",
    "give_label",
    "leave_out",
    "mark_words",
    "prepare_sheets",
    "put_off",
    "renew_sheets",
    "say_cannot",
    "sign_off",
    "store_labels",
    "usual_name",
    "why_closed",
]
