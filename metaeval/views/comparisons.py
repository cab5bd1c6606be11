"""Comparisons: made, computed in the background, shown with tables and figures, and as files."""

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.campaigns.queries import without_practice
from assessor.labels.label_kind import label_kind
from assessor.scores.leaderboards import POLICY_WORDS
from assessor.scores.sorting import Shown
from assessor.scores.sorting import shown as sorted_table
from assessor.studies.queries import Registrations
from metaeval import actions, ceiling_tables, headline
from metaeval.access import campaign_comparison, last_result, result_figure
from metaeval.actions import ComparisonError, TableError
from metaeval.background import send_hint
from metaeval.biases import is_of_judge
from metaeval.calibrations import uncalibrated
from metaeval.charts.rendering import FORMS, TOP
from metaeval.comparison_forms import CompareForm, TableForm
from metaeval.joint import references
from metaeval.judge_agreement import judge_groups
from metaeval.kept_results import kept_result
from metaeval.models import Comparison, ScoreTable
from metaeval.pages import (
    Difference,
    differences,
    figure_contents,
    figure_names,
    measure_rows,
    score_listing,
    top_of,
)
from metaeval.panels import members_in_both
from metaeval.queries import comparisons_of, conditions_of, latest_calculations, preview
from metaeval.report import JSON, with_keys_of_topics
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure
from metaeval.topic_diagnosis import (
    TopicDiagnosis,
    diagnose,
    diagnosed_sides,
    influence_measures,
    sentence,
)
from metaeval.views.figures import figure_response

_ON_A_PAGE = 50
_GROUPS = {"steps": ("By step", "Step"), "languages": ("By language of the passage", "Language")}
_SHADES = (5, 20, 40, 70)  # percent of all pairs, from which on a cell is darker


@require_http_methods(["GET", "POST"])
def comparisons(request: PersonRequest, slug: str) -> HttpResponse:
    """The comparisons so far, and the form of a new one, which goes to the background and leads to its page."""
    campaign = organized_campaign(request.user, slug)
    form = CompareForm(campaign, request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and "look" not in request.POST and form.is_valid():
        try:
            with transaction.atomic():
                calculation = actions.create_comparison(
                    campaign=campaign, **form.cleaned_data, acting_user=request.user
                )
                send_hint(calculation)
        except ComparisonError as error:
            form.add_error(None, str(error))
        else:
            return redirect("comparison", slug, calculation.comparison_id)
    return _list(request, campaign, form, TableForm())


def _list(request: PersonRequest, campaign: Campaign, form: CompareForm, table: TableForm) -> HttpResponse:
    page = Paginator(comparisons_of(campaign), _ON_A_PAGE).get_page(request.GET.get("page"))
    tables = ScoreTable.objects.filter(campaign=campaign).defer("content").select_related("created_by")
    registrations = Registrations(campaign)
    asked = request.POST if "look" in request.POST else request.GET
    first, second = (form.side(asked.get(name, "")) for name in ("first", "second"))
    context = {
        "campaign": campaign,
        "form": form,
        "table": table,
        "page": page,
        "rows": [(one, registrations.covering(one.first_condition_id, one.second_condition_id)) for one in page],
        "has_registrations": bool(registrations),
        "tables": tables,
        "references": references(campaign),
        "groups": judge_groups(campaign),
        "preview": preview(first, second) if first and second else None,
        "uncalibrated": uncalibrated(campaign, conditions_of(page.object_list)),
    }
    return render(request, "metaeval/comparisons.html", context)


@require_POST
def import_table(request: PersonRequest, slug: str) -> HttpResponse:
    """Keep an uploaded score table."""
    campaign = organized_campaign(request.user, slug)
    form = TableForm(request.POST, request.FILES)
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            table = actions.import_table(
                campaign=campaign,
                name=form.cleaned_data["name"],
                path=Path(file.temporary_file_path()),
                file_name=file.name,
                run=form.cleaned_data["run"],
                acting_user=request.user,
            )
        except TableError as error:
            form.add_error("file", [problem.told(file.name) for problem in error.report.errors])
        except ComparisonError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{table} imported.")
            return redirect("comparisons", slug)
    return _list(request, campaign, CompareForm(campaign), form)


@require_safe
def comparison(request: PersonRequest, slug: str, comparison_id: int) -> HttpResponse:
    """Progress while it is computed (htmx asks again each second), then all that came of it."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_comparison(campaign, comparison_id)
    if request.htmx:
        newest = found.calculations.defer("result", "files", "inputs").latest("pk")
        response = render(
            request, "metaeval/comparison.html#progress", {"campaign": campaign, "comparison": found, "newest": newest}
        )
        if newest.is_over:
            response["HX-Refresh"] = "true"  # what came of it takes the whole page
        return response
    return render(request, "metaeval/comparison.html", _context(request, campaign, found))


def _context(request: PersonRequest, campaign: Campaign, found: Comparison) -> dict[str, object]:
    latest, registrations = latest_calculations(found), Registrations(campaign)
    context: dict[str, object] = {
        "campaign": campaign,
        "comparison": found,
        "newest": latest.newest,
        "done": latest.done,
        "changed": latest.changed,
        "policy_words": POLICY_WORDS[Policy(found.policy)],
        "uncalibrated": uncalibrated(campaign, conditions_of([found])),
        "in_both": members_in_both(found.first, found.second),
        "has_registrations": bool(registrations),
        "registration": registrations.covering(found.first_condition_id, found.second_condition_id),
    }
    if latest.done is None:
        return context
    result = with_keys_of_topics(latest.done)
    rows = measure_rows(result)
    measure = request.GET.get("measure", rows[0].measure.key if rows else "")
    keys = [row.measure.key for row in rows]
    if rows and measure not in keys:
        raise Http404("There is no such measure.")
    usual = f"-{rows[0].measure.key}" if rows else ""
    figures = latest.done.figures.all()
    wanted = figure_names(figures, keys.index(measure) if rows else 0)
    # Parts of the page that are kept ask for neither of these.
    drawn = cache(lambda: figure_contents(figures, wanted))

    def tables() -> list[tuple[Any, Shown]]:
        listings = [score_listing(result, place) for place in ("first", "second")] if rows else []
        shown = [sorted_table(request.GET, listing, usual) for listing in listings]
        return list(zip(result["sides"], shown, strict=False))

    names = headline.names_of_sides(found)
    return context | {
        **ceiling_tables.page_context(result, *names),
        "result": result,
        "rows": rows,
        "measure": measure,
        "sentences": headline.sentences(result, *names, are_graded=_are_graded(found)),
        "are_graded": _are_graded(found),
        "key_figures": headline.key_figures(result),
        "moves": headline.moves(result),
        "span_start": headline.span_start(result),
        "spans": headline.spans(result, headline.span_start(result)),
        "multiples": headline.multiples(result),
        "matrix": _matrix(result),
        "groups": [(name, *words, result[name]) for name, words in _GROUPS.items() if result.get(name)],
        "tables_last": 0 if request.GET else None,  # seconds, for ever
        "tables": tables,
        "has_figures": any(not name.startswith(TOP) for name in wanted.values()),
        "figures": lambda: [one for one in drawn() if not one.name.startswith(TOP)],
        "top": top_of(result, measure),
        "top_figures": lambda: [one for one in drawn() if one.name.startswith(TOP)],
        "figure_forms": FORMS,
        "files": [JSON, *latest.done.files],
        "has_biases": bool(rows) and is_of_judge(found),
        "pairs_page": _pairs_page(found),
        "item": _item(found),
    }


def _matrix(result: dict[str, object]) -> list[tuple[str, list[tuple[int, float | None, str]]]]:
    """Return the confusion matrix by rows: a label, and counts with percent and the style of their shade."""
    labels = result["labels"]
    if not isinstance(labels, dict):
        return []
    return [
        (label, [(count, share, _shade(share)) for count, share in zip(counts, shares, strict=True)])
        for label, counts, shares in zip(labels["labels"], labels["matrix"], labels["percent"], strict=True)
    ]


def _shade(percent: float | None) -> str:
    return "hx" if percent is None else f"h{1 + sum(percent >= least for least in _SHADES)}"


def _are_graded(found: Comparison) -> bool:
    first = found.first
    return not isinstance(first, Condition) or label_kind(first.kind).is_graded


def _item(found: Comparison) -> str:
    """Return what lists have whose nuggets are labelled."""
    first = found.first
    kind = label_kind(first.kind) if isinstance(first, Condition) else None
    return kind.item if kind and kind.labels_nuggets else "nugget"


def _pairs_page(found: Comparison) -> str:
    """Return the address of the page that has both labels side by side, but for the topic; nothing for others."""
    first, second = found.first, found.second
    if not isinstance(first, Condition) or not isinstance(second, Condition):
        return ""
    page = label_kind(first.kind).comparison_page
    if not page:
        return ""
    asked = urlencode({"a": first.pk, "b": second.pk, "differ": 1})
    return f"{reverse(page, args=[found.campaign.slug])}?{asked}"


@require_POST
def compute_again(request: PersonRequest, slug: str, comparison_id: int) -> HttpResponse:
    """Have a comparison computed anew, from what stands now."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_comparison(campaign, comparison_id)
    with transaction.atomic():
        send_hint(actions.calculate_again(found, acting_user=request.user))
    return redirect("comparison", slug, comparison_id)


@require_safe
def comparison_topic(request: PersonRequest, slug: str, comparison_id: int, topic_id: int) -> HttpResponse:
    """On which nuggets a topic's τ rests, and what both inputs label differently there, by their labels of now.

    item: of one nugget alone, by key.
    """
    campaign = organized_campaign(request.user, slug)
    found = campaign_comparison(campaign, comparison_id)
    topic = _topic(campaign, topic_id)
    item = request.GET.get("item", "")
    differing, diagnosis = _of_topic(request, found, topic)
    listed = [one for one in differing if item in ("", one.item)]
    context = {
        "campaign": campaign,
        "comparison": found,
        "topic": topic,
        "of_one": listed[0].what if item and listed else "",
        "page": Paginator(listed, _ON_A_PAGE).get_page(request.GET.get("page")),
        "item": _item(found),
        **diagnosis,
    }
    return render(request, "metaeval/comparison_topic.html", context)


def _topic(campaign: Campaign, topic_id: int) -> Topic:
    topic: Topic = get_object_or_404(without_practice(campaign.topics.all(), "pk"), pk=topic_id)
    return topic


def _of_topic(request: PersonRequest, found: Comparison, topic: Topic) -> tuple[list[Difference], dict[str, object]]:
    """Return what is labelled differently, and on which nuggets tau rests by a measure, kept until labels change.

    Nothing of the latter where no nuggets are labelled.
    """
    sides = diagnosed_sides(found)
    if not sides:
        return differences(found, topic), {}
    asked = request.GET.get("measure", "")
    if asked and asked not in influence_measures(found):
        raise Http404("There is no such measure.")

    def compute() -> tuple[list[Difference], list[Measure], TopicDiagnosis | None]:
        return differences(found, topic), *diagnose(found, sides, topic, asked)

    differing, measures, diagnosis = kept_result(sides, f"topic.{found.pk}.{topic.pk}.{asked}", compute)
    if not diagnosis:
        if asked and measures:
            raise Http404("This measure is undefined on this topic.")
        return differing, {}
    measure = next(one for one in measures if asked in ("", one.key))
    return differing, {
        "diagnosis": diagnosis,
        "measures": measures,
        "measure": measure,
        "sentence": sentence(diagnosis, measure, _item(found)),
        "parts": diagnosis.parts.items(),
        "rejudging": _rejudging(sides, topic),
    }


def _rejudging(sides: tuple[Condition, Condition], topic: Topic) -> str:
    """Return the address of the form that has people's labels on a topic judged again; "" where neither is theirs."""
    if not any(side.is_peoples for side in sides):
        return ""
    first, second = sorted(sides, key=lambda side: not side.is_peoples)
    asked = {"name": f"Re-judging of {topic.qid}", "first": first.pk, "second": second.pk, "topic": topic.pk}
    return f"{reverse('rejudging', args=[topic.campaign.slug])}?{urlencode(asked)}#new"


@require_safe
def comparison_figure(request: PersonRequest, slug: str, comparison_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure as a file, as the specification that the page draws, or what it shows as a table."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_comparison(campaign, comparison_id)
    figure = result_figure(last_result(found), name)
    return figure_response(request, figure.specification, name=f"{campaign.slug}.{name}", form=form)
