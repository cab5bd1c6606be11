"""Hybrid scores: people's labels of some topics and a model's of all, as pages, files and the API show them."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from assessor.campaigns.condition_kind import CIRCULAR
from assessor.campaigns.models import Campaign, Condition
from assessor.formats.tables import write_table
from assessor.scores.cache import condition_scores
from assessor.scores.score_source import scoring_of
from assessor.scores.tables import systems_in
from assessor.work.models import Draw
from metaeval.inputs import Gap, NothingToCompare, systems_matrix, without_relative
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.measures import measure_labels, measure_named
from metaeval.models import Hybrid
from metaeval.score_report import hours_per_topic
from metaeval.serializers import number
from metaeval.stats import hybrid as estimation
from metaeval.stats import multiple_comparisons
from metaeval.stats.correlation import kendall_tau
from metaeval.stats.hybrid import PRIOR_SD, Differences, Estimates, Shrunk, Size, Target
from metaeval.stats.means import COMPLETE, INCOMPLETE, Figures, Policy, mean
from metaeval.stats.measures import LENGTH, Measure
from metaeval.stats.score_matrix import ScoreMatrix
from metaeval.stats.statistic import Statistic

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

FEW = 10  # judged topics, below which intervals are approximate
SHIFTED = 0.3  # weight of runs' own biases, below which the order is the model's
_SIZES = 24  # numbers of topics on the curve
_TOLERANCE = 1e-9

Json = dict[str, Any]


class Settings(NamedTuple):
    """How scores are estimated. confidence: of intervals, in percent; prior_sd: of runs' biases."""

    target: Target = Target.CAMPAIGN
    confidence: int = 95
    prior_sd: float = PRIOR_SD

    @property
    def level(self) -> float:
        return self.confidence / 100


class Sides(NamedTuple):
    """What people and a model say of the same runs and topics, by the same measures: arrays (runs, topics, measures).

    NaN where people, or the model, did not judge. gaps: what only one of them has; incomplete: how many answers lack
    labels of people, and of the model, on topics that they judge; waiting: drawn topics on which people said nothing.
    """

    human_name: str
    model_name: str
    runs: list[str]
    tasks: list[str]
    topics: list[str]
    measures: list[str]
    human: Figures
    model: Figures
    gaps: list[Gap]
    incomplete: tuple[int, int] = (0, 0)
    waiting: Sequence[str] = ()


class Mark(NamedTuple):
    """What whoever reads scores has to know. name: a word or two; told: the rest; is_grave: intervals may not hold."""

    name: str
    told: str
    is_grave: bool = True


class Row(NamedTuple):
    """A run as the page's table has it, figures as text."""

    place: int
    run: str
    task: str
    score: str
    half_width: str
    interval: str
    order_score: str
    people: str
    model: str
    judged: int
    why: str


class Result(NamedTuple):
    """Hybrid scores by one measure. alone: what people's labels give without the model's.

    human, model: people's means over the topics that they judged, and the model's over all, (runs,); judged: topics
    that people judged, of so many; decided: pairs of runs told apart, and by p-values adjusted for their number (Holm);
    order: places of runs, the best first; tau: of this order with the model's; curve: what more topics would give.
    """

    measure: Measure
    settings: Settings
    sides: Sides
    scores: Estimates
    alone: Estimates
    differences: Differences
    holm: Figures
    decided: int
    decided_holm: int
    shrunk: Shrunk
    human: Figures
    model: Figures
    judged: int
    topics: int
    order: list[int]
    tau: Statistic
    curve: list[Size]

    @property
    def measures(self) -> list[Measure]:
        """The measures by which there are scores."""
        return [measure_named(key) for key in self.sides.measures]

    @property
    def pairs(self) -> int:
        """How many pairs of runs have an interval."""
        return int((~np.isnan(self.differences.p)).sum())

    @property
    def is_defined(self) -> bool:
        """Whether any run has an interval."""
        return not np.isnan(self.scores.mean).all()

    @property
    def is_whole(self) -> bool:
        """Whether people judged all topics of the campaign, so that nothing is estimated."""
        return self.judged == self.topics

    @property
    def half_width(self) -> float:
        """Of the median run."""
        return float(np.nanmedian(self.scores.half_width))

    @property
    def is_shifted(self) -> bool:
        """Whether the order is the model's in all but name."""
        weight = self.shrunk.weight.value
        return weight is not None and weight < SHIFTED


def hybrids_of(campaign: Campaign) -> QuerySet[Hybrid]:
    """Return a campaign's hybrid scores, the newest first."""
    of_sides = [f"{side}__{name}" for side in ("human", "model") for name in Condition.TOLD_WITH]
    found = Hybrid.objects.filter(campaign=campaign)
    return found.select_related("campaign", "human", "model", "draw", "created_by", *of_sides)


def settings_of(hybrid: Hybrid) -> Settings:
    """Return how the scores of a record are estimated."""
    return Settings(Target(hybrid.target), hybrid.confidence, float(hybrid.prior_sd))


def sides_of(hybrid: Hybrid) -> Sides:
    """Return both sides as they are now. Raises NothingToCompare.

    Circular runs are left out; people's labels of topics that were not drawn do not count where there is a draw.
    """
    policy = Policy(hybrid.policy)
    human, model = (judged_matrix(one, policy) for one in (hybrid.human, hybrid.model))
    return match_sides(human, model, hybrid.draw)._replace(
        incomplete=(_incomplete(hybrid.human), _incomplete(hybrid.model))
    )


def match_sides(human: ScoreMatrix, model: ScoreMatrix, draw: Draw | None = None) -> Sides:
    """Return two score tables by topic as sides. Raises NothingToCompare where they share no run, measure or topic."""
    names = f"{human.name} and {model.name}"
    human, model, gaps = without_relative(human, model)
    frame = set(draw.frame) if draw else set(model.topics)
    judged = set(draw.topics) if draw else set(human.topics)
    runs, measures = (
        [one for one in getattr(human, what) if one in set(getattr(model, what)) and one != LENGTH]
        for what in ("runs", "measures")
    )
    topics = [qid for qid in model.topics if qid in frame]
    for what, found in (("run", runs), ("measure", measures), ("topic", topics)):
        if not found:
            raise NothingToCompare(f"{names} have no {what} in common.")
    for one, other in ((human, model), (model, human)):
        if left := sorted(set(one.runs) - set(runs)):
            gaps.append(Gap("runs", one.name, f"not judged under {other.name}", left))
    if left := sorted(set(_judged_topics(human)) - (judged & set(topics))):
        gaps.append(Gap("topics", human.name, "not drawn, or without scores of the model", left))
    cells = np.full((len(runs), len(topics), len(measures)), np.nan)
    common = [qid for qid in human.topics if qid in judged and qid in set(topics)]
    cells[:, [topics.index(qid) for qid in common]] = _part(human, runs, common, measures)
    tasks = {run: task for one in (model, human) for run, task in zip(one.runs, one.tasks, strict=True) if task}
    return Sides(
        human_name=human.name,
        model_name=model.name,
        runs=runs,
        tasks=[tasks.get(run, "") for run in runs],
        topics=topics,
        measures=measures,
        human=cells,
        model=_part(model, runs, topics, measures),
        gaps=gaps,
        waiting=sorted(judged - set(_judged_topics(human))),
    )


def _part(matrix: ScoreMatrix, runs: Collection[str], topics: Collection[str], measures: Collection[str]) -> Figures:
    places = [
        [known.index(name) for name in wanted]
        for known, wanted in ((matrix.runs, runs), (matrix.topics, topics), (matrix.measures, measures))
    ]
    found: Figures = matrix.cells[np.ix_(*(np.array(one, dtype=np.intp) for one in places))]
    return found


def _judged_topics(matrix: ScoreMatrix) -> list[str]:
    """Return the topics on which any run has a score."""
    there = (~np.isnan(matrix.cells)).any(axis=(0, 2))
    return [matrix.topics[at] for at in np.flatnonzero(there).tolist()]


def judged_matrix(condition: Condition, policy: Policy) -> ScoreMatrix:
    """Return the scores of systems' runs that are not circular, on topics of which an answer is judged.

    On others even a run that did not answer has no score yet.
    """
    found, matrix = condition_scores(condition), systems_matrix(condition, policy)
    at = systems_in(found)
    is_judged = (found.states[at] == COMPLETE).any(axis=0)
    is_kept = np.array([run.mark != CIRCULAR for run in found.runs], dtype=bool)[at]
    cells = np.where(is_judged[np.newaxis, :, np.newaxis], matrix.cells, np.nan)[is_kept]
    places = np.flatnonzero(is_kept).tolist()
    runs, tasks = ([names[one] for one in places] for names in (matrix.runs, matrix.tasks))
    return matrix._replace(runs=runs, tasks=tasks, cells=cells, means=matrix.means[is_kept])


def _incomplete(condition: Condition) -> int:
    """Return how many answers lack labels, of those to topics on which others are judged."""
    found = condition_scores(condition)
    states = found.states[systems_in(found)]
    begun = (states == COMPLETE).any(axis=0)
    return int((states[:, begun] == INCOMPLETE).sum())


def hybrid_result(hybrid: Hybrid, measure: str = "") -> Result:
    """Return the scores by a measure, by its key, or by the first; kept until labels change.

    Raises NothingToCompare, and KeyError where not both sides have the measure.
    """

    def compute() -> Result:
        sides = sides_of(hybrid)
        return estimate(sides, measure or sides.measures[0], settings_of(hybrid))

    return kept_result([hybrid.human, hybrid.model], f"hybrid.{hybrid.pk}.{_known(hybrid, measure)}", compute)


def drawn_result(hybrid: Hybrid, measure: str, hours: float | None) -> tuple[Result, list[KeptFigure]]:
    """Return the scores by a measure, as hybrid_result() does, with their figures, kept as long."""

    def compute() -> tuple[Result, list[KeptFigure]]:
        result = hybrid_result(hybrid, measure)
        return result, keep_figures(hybrid_figures(result, hours))

    name = f"hybrid.{hybrid.pk}.{_known(hybrid, measure)}.drawn.{hours or 0:.4f}"
    return kept_result([hybrid.human, hybrid.model], name, compute)


def _known(hybrid: Hybrid, measure: str) -> str:
    if measure and measure not in scoring_of(hybrid.human.kind).measures.keys:
        raise KeyError(measure)
    return measure


def estimate(sides: Sides, measure: str, settings: Settings) -> Result:
    """Estimate the scores by a measure, by its key. Raises KeyError where the sides don't have it."""
    if measure not in sides.measures:
        raise KeyError(measure)
    at = sides.measures.index(measure)
    human, model = sides.human[..., at], sides.model[..., at]
    target, level = settings.target, settings.level
    scores = estimation.hybrid_scores(human, model, target, confidence=level)
    differences = estimation.hybrid_differences(human, model, target, confidence=level)
    holm = multiple_comparisons.holm(differences.p)
    shrunk = estimation.shrunk(human, model, target, settings.prior_sd)
    of_model = mean(model, 1)
    by = np.where(np.isnan(shrunk.scores), scores.mean, shrunk.scores)
    is_judged = ~np.isnan(human) & ~np.isnan(model)
    judged, topics = (int(there.any(axis=0).sum()) for there in (is_judged, ~np.isnan(model)))
    return Result(
        measure=measure_named(measure),
        settings=settings,
        sides=sides,
        scores=scores,
        alone=estimation.hybrid_scores(human, model, target, 0, level),
        differences=differences,
        holm=holm,
        decided=int((differences.p < 1 - level).sum()),
        decided_holm=int((holm < 1 - level).sum()),
        shrunk=shrunk,
        human=mean(human, 1),
        model=of_model,
        judged=judged,
        topics=topics,
        order=sorted(range(len(by)), key=lambda at: (np.isnan(by[at]), -by[at], sides.runs[at].encode())),
        tau=kendall_tau(by, of_model),
        curve=_curve(scores, differences, judged, topics, settings),
    )


def _curve(scores: Estimates, differences: Differences, judged: int, topics: int, settings: Settings) -> list[Size]:
    """Return what to expect of more topics, from those judged now on up to all; nothing where nothing is known."""
    if np.isnan(scores.mean).all() or judged == topics:
        return []
    sizes = np.unique(np.linspace(judged, topics, min(_SIZES, topics - judged + 1)).round().astype(int)).tolist()
    return estimation.more_topics(scores, differences, sizes, settings.target, settings.level)


def headline(result: Result) -> str:
    """Say in a sentence what the estimate came to."""
    judged, topics = result.judged, result.topics
    if not result.is_defined:
        return f"People judged {judged} of {topics} topics, too few for an interval: each run needs three."
    told = f"{result.decided:,} of {result.pairs:,} pairs of runs are told apart"
    if result.is_whole and result.settings.target == Target.CAMPAIGN:
        return f"People judged all {topics} topics: these are their scores, without any estimate, and {told}."
    alone = float(np.nanmedian(result.alone.half_width))
    return (
        f"From people's labels of {judged} of {topics} topics and the model's of all, the median run's score is known "
        f"to ± {_short(result.half_width)} (± {_short(alone)} from people's labels alone), and {told}."
    )


def _short(value: float) -> str:
    return f"{value:.3f}"


def more_needed(result: Result, half_width: float, hours: float | None) -> str:
    """Say in a sentence how many more topics intervals of a half-width need. hours: of people's work for a topic."""
    if result.half_width <= half_width + _TOLERANCE:
        return f"Intervals are as narrow as ± {half_width:g} already: nobody has to judge more for that."
    variances = estimation.mean_variances(result.scores)
    needed = estimation.topics_for(half_width, variances, result.topics, result.settings.target, result.settings.level)
    if needed is None:
        return f"Even all {result.topics} topics are too few for ± {half_width:g}."
    more = max(needed - result.judged, 1)
    [size] = estimation.more_topics(
        result.scores, result.differences, [result.judged + more], result.settings.target, result.settings.level
    )
    work = f" ({hours * more:.0f} hours)" if hours else ""
    topics = "topic" if more == 1 else "topics"
    return (
        f"With {more} more {topics}{work}, expect ± {_short(size.half_width)} and {size.decided:,} of "
        f"{result.pairs:,} pairs told apart."
    )


def marks_of(hybrid: Hybrid, result: Result) -> list[Mark]:
    """Return what readers of the scores have to know."""
    sides, found = result.sides, []
    if hybrid.human.is_rehearsed or hybrid.model.is_rehearsed:
        found.append(Mark("rehearsal", "The model's labels come from the rehearsal endpoint, with no model behind it."))
    if hybrid.draw:
        found += _marks_of_draw(hybrid.draw, sides)
    elif not result.is_whole:
        found.append(
            Mark("not drawn at random", "Intervals assume a random draw of topics, and no draw is on record for these.")
        )
    for whose, count in zip(("people's", "the model's"), sides.incomplete, strict=True):
        if count:
            lack = "answer lacks" if count == 1 else "answers lack"
            found.append(Mark("incomplete", f"{count:,} {lack} {whose} labels, on topics where others have them."))
    if result.judged < FEW and not result.is_whole:
        found.append(Mark("approximate", f"Below {FEW} judged topics, intervals are somewhat too narrow."))
    if result.is_shifted and not result.is_whole:
        weight = result.shrunk.weight.value
        found.append(
            Mark(
                "the order is the model's, shifted", f"Runs' own biases count {weight:.2f}, less than {SHIFTED}.", False
            )
        )
    if hybrid.human.nuggets_id != hybrid.model.nuggets_id:
        found.append(
            Mark(
                "different nuggets",
                "People and model label different nuggets: the model only narrows intervals.",
                False,
            )
        )
    return found


def _marks_of_draw(draw: Draw, sides: Sides) -> Iterator[Mark]:
    draws = list(Draw.objects.filter(condition=draw.condition_id).order_by("pk"))
    if len({(one.seed, tuple(one.frame)) for one in draws}) > 1:
        at = [one.pk for one in draws].index(draw.pk) + 1
        told = "; ".join(f"{one}, {one.created_at:%Y-%m-%d}" for one in draws)
        yield Mark("drawn again", f"This is draw {at} of {len(draws)} under {draw.condition}: {told}.")
    if draw.scored_models:
        names = ", ".join(draw.scored_models)
        yield Mark("drawn after scores", f"When topics were drawn, scores by a model were there: {names}.")
    if sides.waiting:
        what = "topic has" if len(sides.waiting) == 1 else "topics have"
        yield Mark(
            "incomplete", f"{len(sides.waiting)} drawn {what} no labels of people yet: {', '.join(sides.waiting)}."
        )
    if left := len(draw.frame) - len(sides.topics):
        yield Mark("incomplete", f"The model has no scores on {left} of the {len(draw.frame)} topics drawn from.")


def table_rows(result: Result) -> list[Row]:
    """Return the runs in the order of their shrunk scores."""
    show, scores = result.measure.on_page, result.scores
    return [
        Row(
            place,
            result.sides.runs[at],
            result.sides.tasks[at],
            show(scores.mean[at]),
            show(scores.half_width[at]),
            "—" if scores.why[at] else f"{show(scores.low[at])} to {show(scores.high[at])}",
            show(result.shrunk.scores[at]),
            show(result.human[at]),
            show(result.model[at]),
            int(scores.judged[at]),
            scores.why[at],
        )
        for place, at in enumerate(result.order, start=1)
    ]


def hours_of(hybrid: Hybrid) -> float | None:
    """Return the hours that people needed for a topic; None where nothing was measured."""
    return hours_per_topic([hybrid.human])


def hybrid_figures(result: Result, hours: float | None) -> "list[NamedFigure]":
    """Return the figures of hybrid scores: intervals of runs, residuals by topic, and what more topics would give."""
    from metaeval.charts.figures import NamedFigure
    from metaeval.charts.hybrid import interval_figure, more_topics_figure, residual_figure

    sides, order = result.sides, result.order
    title = measure_labels([result.measure.key])[result.measure.key]
    at = sides.measures.index(result.measure.key)
    scores = result.scores
    return [
        NamedFigure(
            "intervals",
            "Scores of runs with intervals",
            interval_figure(
                [sides.runs[one] for one in order],
                *(figures[order] for figures in (scores.mean, scores.low, scores.high, result.model)),
                title=title,
                confidence=result.settings.confidence,
            ),
        ),
        NamedFigure(
            "residuals",
            "People's scores less the model's, by topic",
            residual_figure(sides.runs, sides.topics, sides.human[..., at] - sides.model[..., at], title=title),
        ),
        NamedFigure(
            "more", "What more topics would give", more_topics_figure(result.curve, pairs=result.pairs, hours=hours)
        ),
    ]


_COLUMNS = (
    *("run_id", "task", "measure", "place", "score", "low", "high", "halfwidth", "weight", "judged_topics", "topics"),
    *("order_score", "order_weight", "people", "model", "target", "confidence", "why"),
)


def score_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table (CSV) of runs by each measure, in the order of their shrunk scores."""
    return write_table(_COLUMNS, (row for result in results for row in _score_rows(result)))


def _score_rows(result: Result) -> Iterator[Sequence[object]]:
    told = score_json(result)
    for run in told["runs"]:
        yield [
            *(run["run_id"], run["task"], told["measure"], run["place"], run["score"], run["low"], run["high"]),
            *(run["half_width"], told["weight"], run["judged_topics"], run["topics"], run["order_score"]),
            *(told["order_weight"], run["people"], run["model"], told["target"], told["confidence"], run["why"]),
        ]


_PAIRS = ("measure", "first", "second", "difference", "low", "high", "halfwidth", "p", "p_holm", "weight")


def pair_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table (CSV) of the differences of all pairs of runs by each measure."""
    return write_table(_PAIRS, (row for result in results for row in _pair_rows(result)))


def _pair_rows(result: Result) -> Iterator[Sequence[object]]:
    runs, found = result.sides.runs, result.differences
    estimates = found.estimates
    columns = (estimates.mean, estimates.low, estimates.high, estimates.half_width, found.p, result.holm)
    for first, second, *figures in zip(
        found.first.tolist(), found.second.tolist(), *(column.tolist() for column in columns), strict=True
    ):
        weight = number(estimates.weight)
        yield [result.measure.key, runs[first], runs[second], *map(number, figures), weight]


def leaderboard_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield "run measure topic value" (tot) of all runs that have a score; measures say what they are of."""
    for result in results:
        sides = result.sides
        told = f"hybrid({sides.human_name}+{sides.model_name});{result.settings.target};{result.settings.confidence}%"
        name = re.sub(r"\s+", "_", f"{result.measure.key}[{told}]")
        for at in result.order:
            if (value := number(float(result.scores.mean[at]))) is not None:
                yield f"{sides.runs[at]} {name} all {value}\n"


def score_json(result: Result) -> Json:
    """Return the scores by a measure, in the order of the shrunk ones; what is undefined is null, beside the reason."""
    sides, scores = result.sides, result.scores
    columns = {
        "score": scores.mean,
        "low": scores.low,
        "high": scores.high,
        "half_width": scores.half_width,
        "order_score": result.shrunk.scores,
        "people": result.human,
        "model": result.model,
    }
    return {
        "human": sides.human_name,
        "model": sides.model_name,
        "measure": result.measure.key,
        "target": result.settings.target.value,
        "confidence": result.settings.confidence,
        "prior_sd": result.settings.prior_sd,
        "weight": number(scores.weight),
        "order_weight": number(result.shrunk.weight.value),
        "judged_topics": result.judged,
        "topics": result.topics,
        "pairs": result.pairs,
        "decided_pairs": result.decided,
        "decided_pairs_holm": result.decided_holm,
        "runs": [
            {
                "run_id": sides.runs[at],
                "task": sides.tasks[at],
                "place": place,
                **{name: number(float(figures[at])) for name, figures in columns.items()},
                "judged_topics": int(scores.judged[at]),
                "topics": int(scores.topics[at]),
                "why": scores.why[at],
            }
            for place, at in enumerate(result.order, start=1)
        ],
    }


FILES = {"csv": score_lines, "pairs.csv": pair_lines, "tot": leaderboard_lines}


def file_lines(hybrid: Hybrid, form: str) -> Iterator[str]:
    """Yield a file, by all measures that both sides have; where there is nothing to estimate, without a row."""
    try:
        results = [hybrid_result(hybrid, key) for key in hybrid_result(hybrid).sides.measures]
    except NothingToCompare:
        results = []
    return FILES[form](results)
