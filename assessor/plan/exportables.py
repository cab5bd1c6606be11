"""What can be exported of the plan and of the time that work took."""

from assessor.exportables import CSV, Exportable, Form, Order, Page, Purpose
from assessor.plan.effort_files import median_lines, task_lines, topic_lines
from assessor.plan.exports import plan_lines

_EFFORT = {"topics.csv": topic_lines, "tasks.csv": task_lines, "medians.csv": median_lines}

EFFORT = Exportable(
    "effort",
    "Effort: active time by topic, task, condition and person",
    {name: Form(name, name, heads=1) for name in _EFFORT},
    lambda it: _EFFORT[it.form](it.campaign),
    lambda it: it.campaign.tasks.count(),
    Order.WORK,
    label="Effort (active time by topic, task, condition and person)",
    purposes=dict.fromkeys(_EFFORT, Purpose.PAPER),
)

EXPORTABLES = (
    EFFORT,
    Exportable(
        "plan",
        "Plan: who does what, as imports read it",
        CSV,
        lambda it: plan_lines(it.campaign),
        lambda it: it.campaign.tasks.count(),
        Order.WORK,
        label="Plan (who does what; can be imported again)",
        page=Page("export_plan", "plan/plan.csv", names_campaign=False),
    ),
)
