"""The only writers of support judgments."""

from support.actions.judging import flag, give_label, put_off, say_cannot, show, sign_off, why_closed
from support.actions.preparing import create_support, prepare_sheets, renew_sheets
from support.actions.sheets import add_sheets, open_waiting, resolve, sheet_row

__all__ = [
    "add_sheets",
    "create_support",
    "flag",
    "give_label",
    "open_waiting",
    "prepare_sheets",
    "put_off",
    "renew_sheets",
    "resolve",
    "say_cannot",
    "sheet_row",
    "show",
    "sign_off",
    "why_closed",
]
