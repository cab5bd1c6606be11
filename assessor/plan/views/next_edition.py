"""Planning the next edition of a track by the scores of this one."""

from typing import Any, NamedTuple

from django.db.models import Q
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.plan.forms import NextEditionForm
from assessor.plan.next_edition import MOST_ASSESSORS, NoPlan, Plan, Row, basis, make_plan
from metaeval.charts.rendering import FORMS
from metaeval.measures import measure_labels
from metaeval.models import Comparison
from metaeval.pages import FigureContent
from metaeval.significance import CELLS_WORDS
from metaeval.stats.generalizability import expected_tau
from metaeval.stats.layout import Cells
from metaeval.stats.measures import Measure
from metaeval.views.conditions import asked_measure
from metaeval.views.figures import figure_response

_FIGURE, _TITLE = "plan", "What more topics give"
_SLIDER_TOPICS, _SLIDER_RUNS = 300, 100  # the far ends of sliders, unless there are more today


class _Asked(NamedTuple):
    """What a request asks for. made: None where why says why there is none."""

    condition: Condition
    measure: Measure
    measures: list[Measure]
    cells: Cells
    form: NextEditionForm | None
    made: Plan | None
    why: str = ""


def _asked(request: PersonRequest, slug: str, condition_id: int) -> _Asked:
    condition, key, measures = asked_measure(request, slug, condition_id)
    measure = next(one for one in measures if one.key == key)
    try:
        cells = Cells(request.GET.get("policy", Cells.ZERO))
    except ValueError as error:
        raise Http404("There is no such policy.") from error
    try:
        found = basis(condition, key, cells)
    except NoPlan as error:
        return _Asked(condition, measure, measures, cells, None, None, str(error))
    form = NextEditionForm(found, request.GET)
    return _Asked(condition, measure, measures, cells, form, make_plan(condition, found, form.choices))


@require_safe
def next_edition(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Sliders, and what they lead to as a sentence, a table and a figure."""
    asked = _asked(request, slug, condition_id)
    context: dict[str, Any] = {
        "campaign": asked.condition.campaign,
        "condition": asked.condition,
        "measure": asked.measure,
        "measures": asked.measures,
        "policy": asked.cells,
        "policies": CELLS_WORDS.items(),
        "why": asked.why,
        "address": reverse("next_edition", args=[slug, condition_id]),
    }
    if made := asked.made:
        found, choices, rows = made.basis, made.choices, made.table
        chosen, today = (
            next(row for row in rows if row.topics == number) for number in (choices.topics, found.components.topics)
        )
        context |= {
            "rows": rows,
            "chosen": chosen,
            "today": today,
            "found": found,
            "form": asked.form,
            "choices": choices,
            "second": round(choices.share * 100),
            "most_topics": max(_SLIDER_TOPICS, 2 * found.components.topics, choices.topics),
            "most_runs": max(_SLIDER_RUNS, 2 * found.components.runs, choices.runs),
            "most_assessors": MOST_ASSESSORS,
            "headline": headline(chosen, asked.measure),
            "pairs": [chosen.t * share**0.5 for share in found.spread],
            "predicted": expected_tau(found.components, found.half).value,
            "hours": made.hours.of(choices.runs),
            "cost": made.cost.of(choices.runs),
            "figures": [FigureContent(_FIGURE, _TITLE, [], 0)],  # the table of the page has what it shows
            "figure_forms": FORMS,
            "comparisons": Comparison.objects.filter(
                Q(first_condition=asked.condition) | Q(second_condition=asked.condition)
            ).order_by("name"),
        }
    return render(request, "plan/next_edition.html", context)


@require_safe
def next_edition_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """The figure, or why there is none: as a file, as the page draws it, or what it shows as a table."""
    from metaeval.charts.figures import message

    asked = _asked(request, slug, condition_id)
    if name != _FIGURE:
        raise Http404("There is no such figure.")
    specification = asked.made.figure if asked.made else message(asked.why).to_dict(validate=False)
    name = f"{slug}.{asked.condition}.{asked.measure.key}.next-edition"
    return figure_response(request, specification, name=name, form=form)


def headline(row: Row, measure: Measure) -> str:
    """Say what an edition of such a size tells apart, in a sentence."""
    label = measure_labels([measure.key])[measure.key]
    return (
        f"With {row.topics:,} topics and {row.runs:,} runs, two runs must differ by {row.hsd:.3f} in {label} "
        f"to be told apart with 80 % power when all pairs are compared (Tukey's HSD at .05)."
    )
