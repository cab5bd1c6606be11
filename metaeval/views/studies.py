"""Studies of disagreements and adjudications: drawn, given out, and what came of them."""

from math import isnan

from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.core.paginator import Paginator
from django.forms import BaseForm
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.http import PersonRequest
from assessor.labels.label_kind import label_kind
from assessor.llm.actions import JobError, launch
from assessor.llm.forms import AskForm
from assessor.studies import actions, queries
from assessor.studies.access import campaign_study, study_item
from assessor.studies.actions import StudyError
from assessor.studies.models import Study
from assessor.work.actions import PlanError
from assessor.work.queries import assessors
from assessor.work.write_protocol import Stale
from metaeval.charts.rendering import FORMS
from metaeval.measures import measures_of
from metaeval.pages import figure_content
from metaeval.revisions import revised_runs, revisions_of, sentence
from metaeval.studies import (
    study_figures,
    study_items,
    study_result,
    study_results,
)
from metaeval.study_forms import CodeForm, CodingForm, DrawForm, GiveForm
from metaeval.study_words import WORDS
from metaeval.views.figures import figure_response

_ITEMS = 20  # on a page


@require_http_methods(["GET", "POST"])
def studies(request: PersonRequest, slug: str, purpose: Study.Purpose = Study.Purpose.DISAGREEMENT) -> HttpResponse:
    """All studies of a campaign with this purpose, with what came of them; a POST draws a new one.

    What a GET names of the form's fields is filled in.
    """
    campaign = organized_campaign(request.user, slug)
    form = DrawForm(campaign, purpose, request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        try:
            study = actions.draw_study(
                campaign=campaign, purpose=purpose, **form.cleaned_data, acting_user=request.user
            )
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Drawn: {study.drawn.count()} {label_kind(study.kind).items}.")
            return redirect("study", slug, study.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "words": WORDS[purpose],
        "results": study_results(list(queries.studies_of(campaign).filter(purpose=purpose))),
    }
    return render(request, "metaeval/studies.html", context)


@require_safe
def study(request: PersonRequest, slug: str, study_id: int) -> HttpResponse:
    """One study: its judges, how far they agree, and every item with all its labels."""
    campaign = organized_campaign(request.user, slug)
    study = campaign_study(campaign, study_id)
    page = Paginator(queries.items_of(study), _ITEMS).get_page(request.GET.get("page"))
    result = study_result(study)
    judges = [judge.condition for judge in result.judges]
    context = {
        "campaign": campaign,
        "study": study,
        "words": WORDS[Study.Purpose(study.purpose)],
        **(_revised(request, study) if study.is_rejudging else {}),
        "result": result,
        "results": [result],  # of the table that the page of all studies has too
        "figures": [figure_content(one.name, one.title, one.specification) for one in study_figures(result)],
        "figure_forms": FORMS,
        "judges": judges,
        "give": GiveForm(study, assessors(campaign)),
        "code": CodeForm(),
        "page": page,
        "items": study_items(study, list(page), judges),
        "max_note": actions.MAX_NOTE,
    }
    return render(request, "metaeval/study.html", context)


def _revised(request: PersonRequest, study: Study) -> dict[str, object]:
    """Return the scores before and after by one of the measures. Raises Http404 where there is no such measure."""
    measures = measures_of(study.first)
    asked = request.GET.get("measure", measures[0].key)
    measure = next((one for one in measures if one.key == asked), None)
    if measure is None:
        raise Http404("There is no such measure.")
    revisions = revisions_of(study)
    return {
        "measures": measures,
        "measure": measure,
        "sentences": [sentence(study, one) for one in revisions],
        "revisions": revisions,
        "revised": [
            (row.name, measure.on_page(row.before), [(measure.on_page(mean), _signed(by)) for mean, by in row.after])
            for row in revised_runs(study, revisions, measure)
        ],
    }


def _signed(change: float) -> str:
    return "—" if isnan(change) else f"{change:+.3f}"


@require_safe
def study_figure(request: PersonRequest, slug: str, study_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure of a study, of what its judges say now."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_study(campaign, study_id)
    figure = next((one for one in study_figures(study_result(found)) if one.name == name), None)
    if figure is None:
        raise Http404("There is no such figure.")
    return figure_response(request, figure.specification, name=f"{campaign.slug}.study-{found.pk}.{name}", form=form)


@require_POST
def give(request: PersonRequest, slug: str, study_id: int) -> HttpResponse:
    """Give a person all topics of a study's sample."""
    campaign = organized_campaign(request.user, slug)
    study = campaign_study(campaign, study_id)
    form = GiveForm(study, assessors(campaign), request.POST)
    if not form.is_valid():
        messages.error(request, _what_is_wrong(form))
        return redirect("study", slug, study_id)
    try:
        tasks = actions.give_sample(study=study, **form.cleaned_data, acting_user=request.user)
    except (ConditionError, PlanError) as error:
        messages.error(request, str(error))
    else:
        person = form.cleaned_data["person"]
        messages.success(request, f"{person} has {len(tasks)} topics under {tasks[0].condition}.")
    return redirect("study", slug, study_id)


@require_http_methods(["GET", "POST"])
def ask(request: PersonRequest, slug: str, study_id: int) -> HttpResponse:
    """Have another model label a study's sample: first what it will take, then the launch."""
    campaign = organized_campaign(request.user, slug)
    study = campaign_study(campaign, study_id)
    form = AskForm(campaign, request.POST or None)
    plan = None
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            plan = actions.plan_asking(
                study=study, judge=asked["judge"], name=asked["name"], replicate=asked["replicate"] or 0
            )
            if "launch" in request.POST:
                budget = {name: asked[name] for name in ("most_calls", "most_cost")}
                job = launch(plan, **budget, acting_user=request.user)
                return redirect("job", slug, job.pk)
        except JobError as error:
            form.add_error(None, str(error))
    context = {"campaign": campaign, "study": study, "form": form, "plan": plan}
    return render(request, "metaeval/ask.html", context)


@require_POST
def define_code(request: PersonRequest, slug: str, study_id: int) -> HttpResponse:
    """Add an error code to the campaign, or change what one means."""
    campaign = organized_campaign(request.user, slug)
    campaign_study(campaign, study_id)
    form = CodeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _what_is_wrong(form))
    else:
        code = actions.define_code(campaign=campaign, **form.cleaned_data, acting_user=request.user)
        messages.success(request, f"{code}: {code.meaning}")
    return redirect("study", slug, study_id)


def _what_is_wrong(form: BaseForm) -> str:
    """Return a form's errors for a message: the page that shows it comes anew."""
    return " ".join(
        str(error) if name == NON_FIELD_ERRORS else f"{form[name].label}: {error}"
        for name, errors in form.errors.items()
        for error in errors
    )


@require_POST
def code_item(request: PersonRequest, slug: str, study_id: int, drawn_id: int) -> HttpResponse:
    """Say why the labels of an item differ."""
    campaign = organized_campaign(request.user, slug)
    drawn = study_item(campaign_study(campaign, study_id), drawn_id)
    form = CodingForm(campaign, request.POST)
    if not form.is_valid():
        messages.error(request, _what_is_wrong(form))
    else:
        try:
            actions.code_item(drawn=drawn, **form.cleaned_data, acting_user=request.user)
        except StudyError as error:
            messages.error(request, str(error))
        except Stale:
            messages.error(request, "Somebody coded this item since the page was loaded: nothing of yours was saved.")
        else:
            messages.success(request, "Saved.")
    response = redirect("study", slug, study_id)
    page = request.POST.get("page", "")
    response["Location"] += (f"?page={page}" if page.isascii() and page.isdigit() else "") + f"#item-{drawn_id}"
    return response
