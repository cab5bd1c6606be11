"""The only writers of the plan: what is to be whose, what becomes of it, and what changes of it later."""

from assessor.plan.actions.allotments import Allotment, allot_topics
from assessor.plan.actions.changes import Piece, Wanted, change_piece, drop_run, piece_at
from assessor.plan.actions.draws import draw_topics
from assessor.plan.actions.judging_pool import follow_scope, set_runs
from assessor.plan.actions.planned_work import (
    Outcome,
    advance,
    cancel,
    carry_out,
    follow_bank,
    follow_import,
    follow_job,
    plan_work,
    settle,
)

__all__ = [
    "Allotment",
    "Outcome",
    "Piece",
    "Wanted",
    "advance",
    "allot_topics",
    "cancel",
    "carry_out",
    "change_piece",
    "draw_topics",
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
