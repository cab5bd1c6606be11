"""What pages and commands read of comparisons."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Max, OuterRef, QuerySet, Subquery

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Grade, QrelsSource
from assessor.campaigns.queries import told_sides, without_practice
from assessor.runtime.process_cache import cache
from assessor.scores.cache import condition_scores
from assessor.scores.score_source import scored_conditions, scoring_of
from metaeval.inputs import Restriction, read_table, resolve_aliases, states
from metaeval.models import Calculation, Comparable, Comparison, ScoreTable
from metaeval.stats.means import Policy

_CONTENT = ("content",)  # of tables: all lines
_LARGE = ("result", "files", "inputs")


def comparables_of(campaign: Campaign) -> list[Comparable]:
    """Return all that can be compared: conditions, then grades, then tables, by name."""
    tables = ScoreTable.objects.filter(campaign=campaign).defer(*_CONTENT)
    sources = campaign.qrels_sources.select_related("condition__judge")
    return [*scored_conditions(campaign).order_by("kind", "name"), *sources, *tables]


def comparables_named(campaign: Campaign, name: str) -> list[Comparable]:
    """Return what has this name among all that can be compared."""
    return [one for one in comparables_of(campaign) if str(one) == name]


def comparisons_of(campaign: Campaign) -> QuerySet[Comparison]:
    """Return a campaign's comparisons, the newest first, with the state of what was last computed of each."""
    last = Calculation.objects.filter(comparison=OuterRef("pk")).order_by("-pk")
    found = Comparison.objects.filter(campaign=campaign).select_related(*_related())
    found = found.prefetch_related(*told_sides("first_condition", "second_condition"))
    return found.defer(*(f"{side}_table__{name}" for side in ("first", "second") for name in _CONTENT)).annotate(
        **{f"last_{name}": Subquery(last.values(name)[:1]) for name in ("state", "why", "ended_at")}
    )


def conditions_of(comparisons: Iterable[Comparison]) -> list[Condition]:
    """Return the conditions that are a side of comparisons, or whose grades are one."""
    sides = [side for one in comparisons for side in (one.first, one.second)]
    found = [side.condition if isinstance(side, QrelsSource) else side for side in sides]
    return [one for one in found if isinstance(one, Condition)]


def _related() -> list[str]:
    sides = [f"{side}_{what}" for side in ("first", "second") for what in ("source", "table")]
    of_sources = [f"{side}_source__condition__judge" for side in ("first", "second")]
    return [*sides, *of_sources, "first_support", "second_support", "topics_of", "campaign"]


def restriction_of(comparison: Comparison) -> Restriction:
    """Return what of both sides a comparison is of."""
    return Restriction(comparison.tasks, comparison.runs, topics_asked(comparison), comparison.circular)


def topics_asked(comparison: Comparison) -> set[str] | None:
    """Return the ids of the topics that a comparison asks for; None for all."""
    wanted = set(comparison.topics) or None
    if comparison.topics_of:
        topic = scoring_of(comparison.topics_of.kind).topic
        sheets = kind_of(comparison.topics_of).scored._default_manager
        sheets = sheets.filter(condition__in=comparison.topics_of.label_sources).order_by()
        judged = set(sheets.values_list(f"{topic}__qid", flat=True).distinct())
        wanted = judged if wanted is None else wanted & judged
    return wanted


class Preview(NamedTuple):
    """What two sides have in common, before they are compared. runs: None where one has grades of no runs.

    words: what of them is compared; problem: why they can't be.
    """

    runs: int | None
    topics: int
    words: str
    problem: str = ""


class _Extent(NamedTuple):
    """What a side is about. runs: by tag, without control runs, None of grades; topics: by id; basis: of its labels."""

    runs: set[str] | None
    topics: set[str]
    basis: str


def newest_results(**of: Any) -> list[int]:
    """Return the keys of the newest result of each comparison. of: of which comparisons, as filter() takes it."""
    done = Calculation.objects.filter(**of, state=Calculation.State.DONE).order_by()
    return [last for _, last in done.values_list("comparison").annotate(Max("pk"))]


def side_key(one: Comparable) -> str:
    """Return what forms and addresses call a side of a comparison."""
    return f"{type(one).__name__}-{one.pk}"


def side_label(one: Comparable) -> str:
    """Return what forms show of a side: its name, and what it has."""
    if isinstance(one, Condition):
        return f"{one} ({one.kind})"
    return f"{one} (grades)" if isinstance(one, QrelsSource) else f"{one} (score table)"


def preview(first: Comparable, second: Comparable) -> Preview:
    """Return what two sides have in common, from scores that are kept, so without reading labels."""
    if first == second:
        return Preview(None, 0, "", "Choose two different sides.")
    one, other = _extent(first), _extent(second)
    if (one.runs is None) != (other.runs is None):
        return Preview(None, 0, "", "Grades can only be compared with grades.")
    runs = None if one.runs is None or other.runs is None else len(one.runs & other.runs)
    topics = len(one.topics & other.topics)
    if runs == 0 or not topics:
        lacking = "runs" if runs == 0 else "topics"
        # A table may have means alone, which are compared over no topics.
        if runs == 0 or (one.topics and other.topics):
            return Preview(runs, topics, "", f"They have no {lacking} in common.")
    same = bool(one.basis) and one.basis == other.basis
    if runs is None:
        return Preview(runs, topics, "Grades of the same passages are compared.")
    return Preview(runs, topics, "Rankings and labels are compared." if same else "Only rankings of runs are compared.")


def _extent(side: Comparable) -> _Extent:
    if isinstance(side, Condition):
        found = condition_scores(side)
        runs = {run.tag for run in found.runs if not run.is_control}
        return _Extent(runs, {topic.qid for topic in found.topics}, f"{side.kind} {side.nuggets_id or ''}")
    if isinstance(side, QrelsSource):
        grades = without_practice(Grade.objects.filter(source=side)).order_by()
        return _Extent(None, set(grades.values_list("topic__qid", flat=True).distinct()), "grades")
    table = read_table(side, Policy.ZERO)
    return _Extent(set(resolve_aliases(side.campaign, table.runs)), set(table.topics), "")


class LatestCalculations(NamedTuple):
    """The last calculation of a comparison (newest), and the last one with a result (done).

    changed: the names of what may have changed since that was computed.
    """

    newest: Calculation
    done: Calculation | None
    changed: list[str]


def latest_calculations(comparison: Comparison) -> LatestCalculations:
    """Return what a page shows of a comparison."""
    newest = comparison.calculations.defer(*_LARGE).latest("pk")
    done = comparison.calculations.filter(state=Calculation.State.DONE).order_by("-pk").first()
    return LatestCalculations(newest, done, changed_since(comparison, done) if done else [])


def changed_since(comparison: Comparison, done: Calculation) -> list[str]:
    """Return the names of those inputs of a result of which anything may have changed since."""
    parts = (
        ("first", comparison.first, comparison.first_support),
        ("second", comparison.second, comparison.second_support),
        ("topics_of", comparison.topics_of, None),
    )
    now = states([one for _, *records in parts for one in records if one])
    return [
        done.inputs[name]["name"]
        for name, record, support in parts
        if record
        and (
            done.inputs[name]["state"] != now[record]
            or (support and done.inputs[name].get("support_state") != now[support])
        )
    ]


class Taus(NamedTuple):
    """Kendall's τ by a measure, of runs with its interval, within topics and of cells; None where undefined."""

    measure: str
    run: float | None
    low: float | None
    high: float | None
    topic: float | None
    cell: float | None


class Agreement(NamedTuple):
    """What a comparison came to, in short: τ of the rankings by each measure, κ of the labels.

    side: the key of its reference side, as forms have it. reference, candidate: the conditions' keys; None where a side
    is no condition. Names say of rehearsals that they are. What is undefined or was not compared is None.
    """

    comparison: int
    side: str
    reference: int | None
    candidate: int | None
    reference_name: str
    candidate_name: str
    taus: tuple[Taus, ...]
    kappa: float | None
    match: float | None

    @property
    def tau(self) -> float | None:
        """τ of runs by the first measure."""
        return self.taus[0].run if self.taus else None

    @property
    def low(self) -> float | None:
        return self.taus[0].low if self.taus else None

    @property
    def high(self) -> float | None:
        return self.taus[0].high if self.taus else None


def agreements(campaign: Campaign) -> list[Agreement]:
    """Return what each comparison came to last, the newest first. A result is large, so each is read once a process."""
    keys = {f"agreement.{pk}": pk for pk in newest_results(comparison__campaign=campaign)}
    known: dict[str, Agreement] = cache.get_many(keys)
    lacking = Calculation.objects.filter(pk__in=[pk for key, pk in keys.items() if key not in known])
    sides = [f"comparison__{side}_{what}" for side in ("first", "second") for what in ("condition", "source", "table")]
    contents = [f"comparison__{side}_table__content" for side in ("first", "second")]
    computed = lacking.defer("files", "inputs", *contents).select_related(*sides)
    new = {f"agreement.{one.pk}": _agreement(one) for one in computed}
    cache.set_many(new, timeout=None)
    return sorted((known | new).values(), key=lambda one: -one.comparison)


def _taus(measure: str, statistics: dict[str, Any]) -> Taus:
    run, topic, cell = (statistics.get(f"tau_{level}") or {} for level in ("run", "topic", "cell"))
    interval = run.get("interval") or {}
    bounds = interval.get("low"), interval.get("high")
    return Taus(measure, run.get("value"), *bounds, topic.get("value"), cell.get("value"))


def _agreement(calculation: Calculation) -> Agreement:
    comparison, result = calculation.comparison, calculation.result
    measures = result["scores"]["measures"] if result.get("scores") else {}
    labels = result.get("labels") or {}
    first, second = (side["name"] for side in result["sides"])
    return Agreement(
        comparison.pk,
        side_key(comparison.first),
        comparison.first_condition_id,
        comparison.second_condition_id,
        first,
        second,
        tuple(_taus(key, of_measure["statistics"]) for key, of_measure in measures.items()),
        (labels.get("unweighted") or {}).get("value"),
        (labels.get("match") or {}).get("value"),
    )
