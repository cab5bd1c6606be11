"""What comes of a sensitivity study: labels, means and ranks of each variant against the base; words and files."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from assessor.campaigns.models import Campaign, Condition, Judge
from assessor.labels.label_kind import label_kind
from assessor.llm.models import Job
from assessor.scores.cache import condition_scores, with_answers
from assessor.scores.label_table import ItemLabels, numbered_table
from assessor.scores.score_source import scored_conditions, scoring_of
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import (
    FACTOR_WORDS,
    FACTORS,
    REPLICATE,
    Variant,
    conditions_of,
    factor_words,
    variants_of,
)
from metaeval.headline import Part
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.measures import absolute_measures
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.calibration import Estimate
from metaeval.stats.generalizability import generalizability, variance_components
from metaeval.stats.levels import tau_levels
from metaeval.stats.means import Figures, Policy, counted
from metaeval.stats.sensitivity import (
    Flips,
    Spread,
    common_cells,
    count_flips,
    rank_runs,
    robust_order,
    spread_of,
    variant_means,
)
from metaeval.stats.statistic import Statistic, undefined

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

REPETITION = FACTOR_WORDS[REPLICATE]
_LEAST_SHARE = 0.01  # of the spread, from which on the sentence names a factor
ALL = "all"  # factors together


class VariantResult(NamedTuple):
    """A variant with labels. number: among all of the study, from 1; factors: in words, in which it is not the base.

    flips: None of the base; tau: of runs, with the base; with_people: the same with people's labels.
    """

    number: int
    name: str
    factors: Sequence[str]
    condition: str
    flips: Flips | None
    tau: Statistic
    with_people: Statistic

    @property
    def is_repetition(self) -> bool:
        """Whether it asks exactly what the base asks."""
        return tuple(self.factors) == (REPETITION,)


class Share(NamedTuple):
    """How much of the spread between the runs of one variant is due to a factor. levels: of it, with the base's."""

    factor: str
    levels: int
    spread: Spread


class SensitivityResult(NamedTuple):
    """What came of a study by one measure.

    means, ranks: (variants, runs), over the cells that count under all variants; order: (runs, runs), which is better
    than which under all. cells: how many count; items: that all variants labelled. of_topics: the share of the variance
    between run means that is due to the draw of topics, under the base. people: whose labels are the reference, or "".
    """

    variants: Sequence[VariantResult]
    labels: Sequence[str]
    measure: str
    runs: Sequence[str]
    topics: int
    cells: int
    items: int
    means: Figures
    ranks: Figures
    order: Any
    shares: Sequence[Share]
    of_topics: Statistic
    people: str

    @property
    def pairs(self) -> int:
        """How many pairs of runs there are."""
        return len(self.runs) * (len(self.runs) - 1) // 2

    @property
    def robust(self) -> int:
        """How many of them have the same order under all variants."""
        return int(self.order.sum())

    @property
    def has_comparisons(self) -> bool:
        """Whether there is a variant besides the base."""
        return len(self.variants) > 1

    @property
    def floor(self) -> list[Estimate]:
        """The flip rates of repetitions."""
        return [one.flips.rate for one in self.variants if one.flips and one.is_repetition]

    def share(self, factor: str) -> Share | None:
        """Return the share of a factor, or of ALL together."""
        return next((one for one in self.shares if one.factor == factor), None)


def sensitivities_of(campaign: Campaign) -> QuerySet[Sensitivity]:
    """Return a campaign's sensitivity studies, by name."""
    found: QuerySet[Sensitivity] = campaign.sensitivities.select_related("campaign", "nuggets", "created_by")
    return found.order_by("name")


def measure_choices(study: Sensitivity) -> dict[str, str]:
    """Return the measures of a study's scores in words, by key."""
    condition = Condition(campaign=study.campaign, kind=study.kind, nuggets=study.nuggets)
    return {one.key: one.in_words for one in absolute_measures(condition)}


def sensitivity_result(study: Sensitivity, measure: str) -> SensitivityResult:
    """Return what came of a study, kept until its labels change; nothing of variants whose jobs are not over.

    measure: by its key. One of measure_choices(). There are no variants without the base.
    """
    made = conditions_of(study)
    known = with_answers(made.values())
    open_jobs = Job.objects.filter(condition__in=known).exclude(state__in=Job.OVER)
    over = known - set(open_jobs.values_list("condition", flat=True))
    conditions = {variant: one for variant, one in made.items() if one.pk in over}
    if variants_of(study.factors)[0] not in conditions:
        return _nothing(study, measure)
    people = _people(study)
    every = [*conditions.values(), *([people] if people else [])]
    return kept_result(every, f"sensitivity.{study.pk}.{measure}", lambda: _result(study, conditions, people, measure))


def _nothing(study: Sensitivity, measure: str) -> SensitivityResult:
    nothing: Figures = np.zeros((0, len(study.runs)))
    return SensitivityResult(
        variants=(),
        labels=label_kind(study.kind).labels,
        measure=measure,
        runs=study.runs,
        topics=0,
        cells=0,
        items=0,
        means=nothing,
        ranks=nothing,
        order=np.zeros((len(study.runs), len(study.runs)), dtype=bool),
        shares=(),
        of_topics=undefined(0, "no labels"),
        people="",
    )


def _people(study: Sensitivity) -> Condition | None:
    """Return the first condition, by name, under which people label the same nuggets."""
    same = scored_conditions(study.campaign).filter(kind=study.kind, nuggets=study.nuggets).order_by("name")
    people = [one for one in same if one.is_peoples and not one.of_passages]
    known = with_answers(people)
    return next((one for one in people if one.pk in known), None)


def _result(
    study: Sensitivity, conditions: Mapping[Variant, Condition], people: Condition | None, measure: str
) -> SensitivityResult:
    every = variants_of(study.factors)
    there = [one for one in every if one in conditions]
    base, known = there[0], label_kind(study.kind).labels
    found = [scoring_of(study.kind).load_with_labels(conditions[one])[1] for one in there]
    codes, first = numbered_table([ItemLabels(one.owner, one.item, one.code) for one in found])
    topic, by_rule = (np.concatenate([getattr(one, name) for one in found])[first] for name in ("topic", "by_rule"))
    # What a rule labels can't flip.
    codes, topic = codes[:, ~by_rule], topic[~by_rule]
    flips = [None, *count_flips(codes, topic, len(known))]
    scores = np.stack([_cells(conditions[one], study, measure) for one in there])
    cells = common_cells(scores)
    means = variant_means(scores)
    of_people = _cells(people, study, measure) if people else None
    words = factor_words(_judges(study), base.judge)
    results = [
        VariantResult(
            number=every.index(one) + 1,
            name=one.in_words(base),
            factors=[words[name] for name in one.differing(base)],
            condition=conditions[one].name,
            flips=flips[at],
            tau=tau_levels(cells[0], cells[at]).run,
            with_people=tau_levels(of_people, cells[at]).run
            if of_people is not None
            else undefined(0, "people labelled none of it"),
        )
        for at, one in enumerate(there)
    ]
    return SensitivityResult(
        variants=results,
        labels=known,
        measure=measure,
        runs=study.runs,
        topics=int((~np.isnan(cells[0])).any(axis=0).sum()),
        cells=int((~np.isnan(cells[0])).sum()),
        items=int((codes != NO_VALUE).all(axis=0).sum()),
        means=means,
        ranks=rank_runs(means),
        order=robust_order(means),
        shares=_shares(there, means, words),
        of_topics=_of_topics(cells[0]),
        people=people.name if people else "",
    )


def _cells(condition: Condition, study: Sensitivity, measure: str) -> Figures:
    """Return the scores of a study's runs and topics under a condition: (runs, topics), NaN where it does not count."""
    found = condition_scores(condition)
    at = found.measures.keys.index(measure)
    scores = counted(found.scores[..., [at]], found.states, Policy.ZERO)[..., 0]
    cells: Figures = np.full((len(study.runs), len(study.topics)), np.nan)
    rows = {run.tag: row for row, run in enumerate(found.runs)}
    columns = {topic.qid: column for column, topic in enumerate(found.topics)}
    for row, tag in enumerate(study.runs):
        for column, qid in enumerate(study.topics):
            if tag in rows and qid in columns:
                cells[row, column] = scores[rows[tag], columns[qid]]
    return cells


def _judges(study: Sensitivity) -> dict[str, Judge]:
    models = study.campaign.model_judges.filter(judge__name__in=study.factors["judge"]).select_related("judge")
    return {one.judge.name: one.judge for one in models}


def _shares(variants: Sequence[Variant], means: Figures, words: Mapping[str, str]) -> list[Share]:
    """Return the share of each factor, from the variants in which it alone is not the base's, and of all variants."""
    base, found = variants[0], []
    for name in FACTORS:
        rows = [0, *(at for at, one in enumerate(variants) if one.differing(base) == [name])]
        if len(rows) > 1:
            found.append(_share(words[name], means[rows]))
    return [one for one in (*found, _share(ALL, means)) if one]


def _share(factor: str, means: Figures) -> Share | None:
    try:
        return Share(factor, len(means), spread_of(means))
    except ValueError:  # fewer than two runs have a mean
        return None


def _of_topics(cells: Figures) -> Statistic:
    """Return 1 - E rho^2 of the sample's topics, over the runs that have a score on all of them."""
    known = cells[:, ~np.isnan(cells).all(axis=0)]
    known = known[~np.isnan(known).any(axis=1)]
    if min(known.shape) < 2:
        return undefined(known.shape[1], "fewer than two runs have all topics")
    found = generalizability(variance_components(known), known.shape[1])
    return found if found.value is None else found._replace(value=1 - found.value)


def changes(found: SensitivityResult, at: int) -> tuple[float, float]:
    """Return by how much a variant changes the runs' means on average, and the largest change of a run; or NaN."""
    change = found.means[at] - found.means[0]
    known = change[~np.isnan(change)]
    if not len(known):
        return float("nan"), float("nan")
    return float(known.mean()), float(known[np.abs(known).argmax()])


def sentence(found: SensitivityResult) -> list[Part]:
    """Return what came of it, in parts of sentences: every word follows from the figures."""
    others = [one for one in found.variants if one.flips and one.flips.rate.value is not None]
    asked = [one.flips.rate.value for one in others if one.flips and not one.is_repetition]
    parts: list[Part] = []
    if asked:
        ways = f"Asked in {len(asked)} other way{'s' if len(asked) > 1 else ''}"
        parts += [Part(f"{ways}, the judge gives another label to "), Part(span(asked), True), Part(" of nuggets")]
    if repeated := [one.value for one in found.floor if one.value is not None]:
        parts.append(Part("; asked the same again, to " if parts else "Asked the same again, the judge changes "))
        parts += [Part(span(repeated), True), Part("" if asked else " of labels")]
    if parts:
        parts.append(Part(". "))
    is_one = found.robust == 1
    parts += [
        Part(f"{found.robust} of {found.pairs} pairs", True),
        Part(f" of runs {'has' if is_one else 'have'} the same order under all {len(found.variants)} variants."),
    ]
    every = found.share(ALL)
    if every and every.spread.share.value is not None:
        parts += [Part(" Of the spread between runs, "), Part(f"{100 * every.spread.share.value:.0f} %", True)]
        parts.append(Part(" is due to how the judge is asked"))
        shares = {one.factor: one.spread.share.value or 0 for one in found.shares if one.factor != ALL}
        again = shares.pop(REPETITION, 0)
        most = max(shares, key=lambda one: shares[one], default="")
        if most and shares[most] >= _LEAST_SHARE:
            parts.append(Part(f", most to {most} ({100 * shares[most]:.0f} %)"))
        if again >= _LEAST_SHARE:
            parts.append(Part(f"; asking the same again alone makes {100 * again:.0f} %"))
        parts.append(Part("."))
    return parts


def span(rates: Sequence[float | None]) -> str:
    """Return from where to where rates go, in percent; "" without any."""
    if not rates:
        return ""
    given = sorted({f"{100 * (rate or 0):.1f}" for rate in rates}, key=float)
    return f"{given[0]} %" if len(given) == 1 else f"{given[0]} to {given[-1]} %"


def sensitivity_figures(study: Sensitivity, measure: str, in_words: str) -> list[KeptFigure]:
    """Return the figures of a study; none before two variants have labels."""
    found = sensitivity_result(study, measure)
    return keep_figures(_figures(found, in_words)) if found.has_comparisons else []


def _figures(found: SensitivityResult, in_words: str) -> "list[NamedFigure]":
    from metaeval.charts.figures import NamedFigure
    from metaeval.charts.sensitivity import multiverse_figure

    names = [f"{one.number} {one.name}" for one in found.variants]
    return [
        NamedFigure(
            "ranks",
            "Rank of each run under each variant",
            multiverse_figure(found.runs, names, found.ranks, found.means, title=in_words),
        )
    ]


def launched(campaign: Campaign) -> QuerySet[Sensitivity]:
    """Return the studies of a campaign whose variants were launched."""
    made = Condition.objects.filter(campaign=OuterRef("campaign"), sample=OuterRef("name"))
    return sensitivities_of(campaign).filter(Exists(made))
