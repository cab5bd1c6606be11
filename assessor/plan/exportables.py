"""What can be exported of the plan and of the time that work took."""

from collections.abc import Iterator

from assessor.exportables import CSV, ChoiceError, Chosen, Exportable, Form, Order, Page, Purpose, always, of_conditions
from assessor.plan.effort_files import median_lines, task_lines, topic_lines
from assessor.plan.exports import plan_lines
from assessor.plan.forms import NextEditionForm
from assessor.plan.next_edition import NoPlan, as_csv, basis, make_plan
from assessor.scores.score_source import scored_conditions
from metaeval.exposure import seen_in_scores
from metaeval.measures import measure_choices
from metaeval.significance import CELLS_WORDS
from metaeval.stats.layout import Cells

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


def _next_edition_lines(chosen: Chosen) -> Iterator[str]:
    """Return what numbers of topics give; none where the scores tell nothing. Raises ChoiceError."""
    try:
        found = basis(chosen.record, chosen.asked["measure"], Cells(chosen.asked["policy"]))
    except NoPlan:
        return as_csv([])
    form = NextEditionForm(found, chosen.asked)
    if not form.is_valid():
        wrong = (f"{form[name].label}: {' '.join(map(str, why))}" for name, why in form.errors.items())
        raise ChoiceError(" ".join(wrong))
    return as_csv(make_plan(chosen.record, found, form.choices).table)


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
    Exportable(
        "next_edition",
        "Plan of the next edition, by number of topics",
        CSV,
        _next_edition_lines,
        lambda it: 0,
        Order.COMPARISONS,
        of_conditions("scored condition", scored_conditions),
        label="Plan of the next edition (by number of topics)",
        of_labels=always,
        shows=lambda it: seen_in_scores(it.record),
        choices={"measure": measure_choices, "policy": lambda condition: CELLS_WORDS},
        asks=tuple(NextEditionForm.base_fields),
        purposes={"csv": Purpose.TRACK},
        page=Page("next_edition_table", "scores/<int:condition_id>/next-edition/plan.csv"),
    ),
)
