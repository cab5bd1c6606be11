"""The only writers of support judgments."""

from support.actions.auto import MOVED, add_lacking_sheets, store_labels
from support.actions.joining import follow_citations
from support.actions.sheets import add_sheets, resolve, sheet_row

__all__ = ["MOVED", "add_lacking_sheets", "add_sheets", "follow_citations", "resolve", "sheet_row", "store_labels"]
