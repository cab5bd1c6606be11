"""The only writers of preferences."""

from assessor.preference.actions.model import Verdicts, add_pairs, store_verdicts

__all__ = ["Verdicts", "add_pairs", "store_verdicts"]
