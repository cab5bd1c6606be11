"""All judges of the same items at once."""

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition, QrelsSource
from assessor.exportables import ChoiceError
from assessor.scores.leaderboards import POLICY_WORDS
from assessor.scores.views import scored_condition
from metaeval.joint import imported_columns
from metaeval.judge_agreement import (
    SORTS,
    TABLES,
    TAUS,
    Judge,
    JudgeAgreement,
    candidates,
    choose_among,
    fellow_judges,
    in_csv,
    judge_agreement,
    judge_figures,
    sentence,
)
from metaeval.measures import absolute_measures
from metaeval.models import Comparison
from metaeval.stats.agreement import Weights
from metaeval.stats.judges import Two
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure
from metaeval.stats.score_matrix import POLICIES
from metaeval.stats.statistic import Statistic
from metaeval.views.figures import figure_response, later_figures

_LABELS = {"run": "τ of runs", "topic": "τ within topics", "cell": "τ of cells", "kappa": "κ", "match": "Equal labels"}
_GROUPS = {"people": "People", "model": "Models", "panel": "Panels", "unknown": "By whom is unknown"}
_SHADES = (0.2, 0.4, 0.6, 0.8)  # of kappa and tau, from which on a cell is darker


class _Asked(NamedTuple):
    """What an address asks for. there: all that label the same; names: of the judges, as addresses have them.

    measures: of scores, none of grades, nor where all depend on the runs that are compared, as of preferences.
    """

    record: Judge
    there: list[Judge]
    judges: list[Judge]
    names: str
    measures: list[Measure]
    found: JudgeAgreement
    weights: Weights


def _asked(request: PersonRequest, record: Judge, *, ranks: bool = True) -> _Asked:
    """Return what an address asks for; ranks: with the rankings of runs, which figures show nothing of."""
    measures = absolute_measures(record) if isinstance(record, Condition) else []
    measure = request.GET.get("measure", measures[0].key if measures else "")
    policy = request.GET.get("policy", POLICIES[0])
    if policy not in POLICIES or (measure and measure not in {one.key for one in measures}):
        raise Http404("There is no such measure or policy.")
    names = ",".join(request.GET.getlist("judges"))
    there = fellow_judges(record)
    try:
        judges = choose_among(there, record, names)
    except ChoiceError as error:
        raise Http404(str(error)) from error
    found = judge_agreement(record, judges, Policy(policy), measure if ranks else "")
    weights = request.GET.get("kappa", found.weights[0])
    if weights not in found.weights:
        raise Http404("There is no such kappa of these labels.")
    return _Asked(record, there, judges, names, measures, found, Weights(weights))


class Cell(NamedTuple):
    """Two judges in a matrix. address: of their comparison, or of the form of a new one; None where they are one."""

    value: str
    below: str
    shade: str
    address: str
    words: str


class Row(NamedTuple):
    """A judge in a matrix. place: from 1; address: of the page on which others are held against it."""

    place: int
    name: str
    address: str
    cells: list[Cell | None]


@require_safe
def label_judges(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """All that label the same as a condition."""
    return _page(request, scored_condition(organized_campaign(request.user, slug), condition_id))


@require_safe
def grade_judges(request: PersonRequest, slug: str, source_id: int) -> HttpResponse:
    """All sources of grades on the scale of one."""
    return _page(request, _source(request, slug, source_id))


def _source(request: PersonRequest, slug: str, source_id: int) -> QrelsSource:
    sources = organized_campaign(request.user, slug).qrels_sources.select_related("condition__judge")
    source: QrelsSource | None = sources.filter(pk=source_id).first()
    if source is None:
        raise Http404("There is no such source of grades in this campaign.")
    return source


def _page(request: PersonRequest, record: Judge) -> HttpResponse:
    """The matrices, with people's rows apart, all judges against one, shares of labels; figures, asked for by htmx."""
    asked = _asked(request, record, ranks=not request.htmx)
    if request.htmx:
        return later_figures(request, judge_figures(asked.found, asked.weights), _address(record))
    campaign, found, weights = record.campaign, asked.found, asked.weights
    names = [judge.name for judge in found.judges]
    columns = imported_columns(campaign, names)
    by = request.GET.get("sort", "run" if found.measure else "kappa")
    sorts = [name for name in SORTS if found.measure or name not in TAUS]
    if by not in sorts:
        raise Http404("There is no such column.")
    comparisons = _comparisons(asked)
    kappas, agreements = found.kappas(weights), found.labels.agreements
    context = {
        "campaign": campaign,
        "reference": found.judges[found.reference],
        "found": found,
        "sentence": sentence(found, weights),
        "has_rules": any(judge.by_rule for judge in found.judges),
        "alphas": found.labels.alphas.items(),
        "weights": weights,
        "kappa_matrix": _matrix(
            request,
            asked,
            comparisons,
            {two: (value, _equal(agreements[two].match)) for two, value in kappas.items()},
            "κ",
        ),
        "tau_matrix": _matrix(
            request,
            asked,
            comparisons,
            {
                two: (levels.run, f"{_short(levels.topic)} · {_short(levels.cell)}")
                for two, levels in found.taus.items()
            },
            "τ",
        ),
        "pairs": [
            (
                *(found.judges[at].name for at in two),
                agreement.match.n,
                [agreement.match, *(getattr(agreement, one) for one in found.weights)],
                [found.tau(two, level) for level in TAUS] if found.taus else [],
            )
            for two, agreement in found.matched.items()
        ],
        "columns": [(name, _LABELS[name], name == by) for name in sorts],
        "imported": columns,
        "rows": [
            (
                row.judge,
                [row.figures[name] for name in sorts],
                [column.values.get(row.judge.name) for column in columns],
            )
            for row in candidates(found, weights, by)
        ],
        "choices": [(in_csv([one.name]), one.name, one in asked.judges, one == record) for one in asked.there],
        "measures": asked.measures,
        "policies": [(one, POLICY_WORDS[one]) for one in POLICIES],
        "tables": [(name, _file(asked, name)) for name in TABLES],
    }
    return render(request, "metaeval/judges.html", context)


def _comparisons(asked: _Asked) -> dict[frozenset[int], int]:
    """Return the newest comparison of each two judges, by the keys of both."""
    sides = [
        f"{side}_{'condition' if isinstance(asked.record, Condition) else 'source'}" for side in ("first", "second")
    ]
    made = Comparison.objects.filter(campaign=asked.record.campaign, **{f"{side}__in": asked.judges for side in sides})
    return {frozenset(two): pk for pk, *two in made.order_by("pk").values_list("pk", *sides)}


def _matrix(
    request: PersonRequest,
    asked: _Asked,
    comparisons: dict[frozenset[int], int],
    values: dict[Two, tuple[Statistic, str]],
    sign: str,
) -> list[tuple[str, list[Row]]]:
    """Return the rows of a matrix, people's apart. values: of each two judges, with what is below it; maybe none."""
    if not values:
        return []
    judges, slug, query = asked.found.judges, asked.record.campaign.slug, request.GET.urlencode()

    def cell(at: int, other: int) -> Cell | None:
        if at == other:
            return None
        value, below = values[min(at, other), max(at, other)]
        made = comparisons.get(frozenset((asked.judges[at].pk, asked.judges[other].pk)))
        sides = urlencode({"first": judges[at].key, "second": judges[other].key})
        new = f"{reverse('comparisons', args=[slug])}?{sides}#new"
        address = reverse("comparison", args=[slug, made]) if made else new
        words = f"{judges[at].name} and {judges[other].name}: {sign} {_short(value)}, {below}"
        return Cell(_short(value), below, _shade(value), address, words if made else f"{words}; compare")

    groups = []
    for by, title in _GROUPS.items():
        rows = [
            Row(
                at + 1,
                judges[at].name,
                f"{_address(asked.judges[at])}{'?' if query else ''}{query}",
                [cell(at, other) for other in range(len(judges))],
            )
            for at in asked.found.by(by)
        ]
        if rows:
            groups.append((title, rows))
    return groups


def _short(value: Statistic) -> str:
    return "—" if value.value is None else f"{value.value:.2f}"


def _equal(match: Statistic) -> str:
    return match.why if match.value is None else f"{100 * match.value:.0f} % equal"


def _shade(value: Statistic) -> str:
    return "hx" if value.value is None else f"h{1 + sum(value.value >= least for least in _SHADES)}"


def _address(record: Judge, *parts: str) -> str:
    """Return the address of the page of a judge, or of a table of it."""
    name = "label_judges" if isinstance(record, Condition) else "grade_judges"
    return reverse(f"{name}_table" if parts else name, args=[record.campaign.slug, record.pk, *parts])


def _file(asked: _Asked, form: str) -> str:
    """Return the address of a file of what the page shows."""
    found = asked.found
    query = {"judges": asked.names, **({"measure": found.measure, "policy": found.policy} if found.measure else {})}
    return f"{_address(asked.record, form)}?{urlencode({name: value for name, value in query.items() if value})}"


@require_safe
def label_judges_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure of the judges of labels: as a file, as the page draws it, or what it shows as a table."""
    return _figure(request, scored_condition(organized_campaign(request.user, slug), condition_id), name, form)


@require_safe
def grade_judges_figure(request: PersonRequest, slug: str, source_id: int, name: str, form: str) -> HttpResponseBase:
    """The same of grades."""
    return _figure(request, _source(request, slug, source_id), name, form)


def _figure(request: PersonRequest, record: Judge, name: str, form: str) -> HttpResponseBase:
    asked = _asked(request, record, ranks=False)
    figures = {one.name: one for one in judge_figures(asked.found, asked.weights)}
    if name not in figures:
        raise Http404("There is no such figure.")
    file_name = f"{record.campaign.slug}.judges.{record}.{name}"
    return figure_response(request, figures[name].specification, name=file_name, form=form)
