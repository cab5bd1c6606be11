"""The only writers of the plan: what is to be whose, what becomes of it, and what changes of it later."""

from assessor.plan.actions.allotting import Allotment, allot_topics
from assessor.plan.actions.changing import Piece, Wanted, change_piece, drop_run, piece_at
from assessor.plan.actions.planning import Outcome, advance, cancel, follow_bank, follow_import, follow_job, plan_work
from assessor.plan.actions.scoping import follow_scope, set_runs, settle

__all__ = [
    "Allotment",
    "Outcome",
    "Piece",
    "Wanted",
    "advance",
    "allot_topics",
    "cancel",
    "change_piece",
    "drop_run",
    "follow_bank",
    "follow_import",
    "follow_job",
    "follow_scope",
    "piece_at",
    "plan_work",
    "set_runs",
    "settle",
]
