"""Planning the next edition of a track by the scores of this one."""

from typing import Any, NamedTuple

from django import forms
from django.db.models import Q
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.http import PersonRequest, download
from assessor.campaigns.models import Condition
from assessor.plan.next_edition import (
    MOST_ASSESSORS,
    MOST_RUNS,
    MOST_TOPICS,
    Choices,
    NoPlan,
    Plan,
    Row,
    as_csv,
    basis,
    make_plan,
)
from assessor.work.exposure import take_file
from metaeval.charts.rendering import FORMS
from metaeval.exposure import seen_in_scores
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


class ChoicesForm(forms.Form):
    """What the next edition is to be like; empty hours and costs are as measured."""

    topics = forms.IntegerField(min_value=2, max_value=MOST_TOPICS)
    runs = forms.IntegerField(min_value=2, max_value=MOST_RUNS)
    second = forms.IntegerField(label="Topics with second opinions", min_value=0, max_value=100)
    assessors = forms.IntegerField(min_value=2, max_value=MOST_ASSESSORS)
    hours = forms.FloatField(required=False, min_value=0.0, max_value=1_000.0)
    cost = forms.FloatField(required=False, min_value=0.0, max_value=1e6)


class _Asked(NamedTuple):
    """What a request asks for. made: None where why says why there is none."""

    condition: Condition
    measure: Measure
    measures: list[Measure]
    cells: Cells
    form: ChoicesForm | None
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
    today = Choices(found.components.topics, found.components.runs)
    usual = {"topics": today.topics, "runs": today.runs, "second": 0, "assessors": today.assessors}
    names = ["topics", "runs", "hours", "cost", *(["second", "assessors"] if found.of_assessors else [])]
    form = ChoicesForm(usual | {name: request.GET[name] for name in names if name in request.GET})
    choices = today
    if form.is_valid():
        data = form.cleaned_data
        share = data["second"] / 100
        choices = Choices(data["topics"], data["runs"], share, data["assessors"], data["hours"], data["cost"])
    return _Asked(condition, measure, measures, cells, form, make_plan(condition, found, choices))


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
def next_edition_table(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    """The table as CSV."""
    asked = _asked(request, slug, condition_id)
    take_file(request.user, seen_in_scores(asked.condition))
    return download(f"{_file_name(asked)}.csv", as_csv(asked.made.table if asked.made else []))


@require_safe
def next_edition_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """The figure, or why there is none: as a file, as the page draws it, or what it shows as a table."""
    from metaeval.charts.figures import message

    asked = _asked(request, slug, condition_id)
    if name != _FIGURE:
        raise Http404("There is no such figure.")
    specification = asked.made.figure if asked.made else message(asked.why).to_dict(validate=False)
    return figure_response(request, specification, name=_file_name(asked), form=form)


def _file_name(asked: _Asked) -> str:
    """Return what files of the plan are called, without their ending."""
    return f"{asked.condition.campaign.slug}.{asked.condition}.{asked.measure.key}.next-edition"


def headline(row: Row, measure: Measure) -> str:
    """Say what an edition of such a size tells apart, in a sentence."""
    label = measure_labels([measure.key])[measure.key]
    return (
        f"With {row.topics:,} topics and {row.runs:,} runs, two runs must differ by {row.hsd:.3f} in {label} "
        f"to be told apart with 80 % power when all pairs are compared (Tukey's HSD at .05)."
    )
