"""The only writers of support judgments."""

from support.actions.sheets import add_sheets, resolve, sheet_row

__all__ = ["add_sheets", "resolve", "sheet_row"]
