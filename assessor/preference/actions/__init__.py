"""The only writers of preferences."""

from assessor.preference.actions.comparing import compare, flag, mark_unjudgeable, put_off, sign_off, why_closed
from assessor.preference.actions.model import Verdicts, store_verdicts
from assessor.preference.actions.pairs import add_pairs
from assessor.preference.actions.preparation import create_preference, follow_scope, prepare_pairs, renew_pairs
from assessor.preference.actions.resolution import adopt, decide

__all__ = [
    "Verdicts",
    "add_pairs",
    "adopt",
    "compare",
    "create_preference",
    "decide",
    "flag",
    "follow_scope",
    "mark_unjudgeable",
    "prepare_pairs",
    "put_off",
    "renew_pairs",
    "sign_off",
    "store_verdicts",
    "why_closed",
]
