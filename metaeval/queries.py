"""What pages and commands read of comparisons."""

from typing import NamedTuple

from django.db.models import Max, OuterRef, QuerySet, Subquery

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign
from assessor.runtime.process_cache import cache
from assessor.scores.score_source import scored_conditions
from metaeval.inputs import state
from metaeval.models import Calculation, Comparable, Comparison, ScoreTable

_CONTENT = ("content",)  # of tables: all lines
_LARGE = ("result", "files", "inputs")
_NAMES = ("judge", "nuggets__judge", "qrels_source__condition__judge", "shown__judge")


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
    return found.defer(*(f"{side}_table__{name}" for side in ("first", "second") for name in _CONTENT)).annotate(
        **{f"last_{name}": Subquery(last.values(name)[:1]) for name in ("state", "why", "ended_at")}
    )


def _related() -> list[str]:
    sides = [f"{side}_{what}" for side in ("first", "second") for what in ("condition", "source", "table")]
    of_conditions = [f"{side}_condition__{name}" for side in ("first", "second") for name in _NAMES]
    return [*sides, *of_conditions, "first_support", "second_support", "topics_of", "campaign"]


def topics_asked(comparison: Comparison) -> set[str] | None:
    """Return the ids of the topics that a comparison asks for; None for all."""
    wanted = set(comparison.topics) or None
    if comparison.topics_of:
        sheets = kind_of(comparison.topics_of).sheets._default_manager
        sheets = sheets.filter(condition=comparison.topics_of).order_by()
        judged = set(sheets.values_list("answer__topic__qid", flat=True).distinct())
        wanted = judged if wanted is None else wanted & judged
    return wanted


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
    return [
        done.inputs[name]["name"]
        for name, record, support in parts
        if record
        and (
            done.inputs[name]["state"] != state(record)
            or (support and done.inputs[name].get("support_state") != state(support))
        )
    ]


class Agreement(NamedTuple):
    """What a comparison of conditions came to, in short: τ of the rankings by the first measure, κ of the labels.

    reference, candidate: the conditions' keys and names; None and "" where a side is no condition. τ's interval, and
    whatever is undefined or was not compared, is None.
    """

    comparison: int
    reference: int | None
    candidate: int | None
    reference_name: str
    candidate_name: str
    tau: float | None
    low: float | None
    high: float | None
    kappa: float | None
    match: float | None


def agreements(campaign: Campaign) -> list[Agreement]:
    """Return what each comparison came to last, the newest first. A result is large, so each is read once a process."""
    newest = Calculation.objects.filter(comparison__campaign=campaign, state=Calculation.State.DONE)
    keys = {
        f"agreement.{pk}": pk
        for pk in newest.order_by().values("comparison").annotate(last=Max("pk")).values_list("last", flat=True)
    }
    known: dict[str, Agreement] = cache.get_many(keys)
    lacking = Calculation.objects.filter(pk__in=[pk for key, pk in keys.items() if key not in known])
    computed = lacking.defer("files", "inputs").select_related(
        "comparison__first_condition", "comparison__second_condition"
    )
    new = {f"agreement.{one.pk}": _agreement(one) for one in computed}
    cache.set_many(new, timeout=None)
    return sorted((known | new).values(), key=lambda one: -one.comparison)


def _agreement(calculation: Calculation) -> Agreement:
    comparison, result = calculation.comparison, calculation.result
    first, second = comparison.first_condition, comparison.second_condition
    measures = list(result["scores"]["measures"].values()) if result.get("scores") else []
    tau = measures[0]["statistics"].get("tau_run", {}) if measures else {}
    interval, labels = tau.get("interval") or {}, result.get("labels") or {}
    return Agreement(
        comparison.pk,
        comparison.first_condition_id,
        comparison.second_condition_id,
        str(first or ""),
        str(second or ""),
        tau.get("value"),
        interval.get("low"),
        interval.get("high"),
        (labels.get("unweighted") or {}).get("value"),
        (labels.get("match") or {}).get("value"),
    )
