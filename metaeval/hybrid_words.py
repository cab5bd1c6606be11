"""Hybrid scores in words: what they came to, what more topics would give, and what their readers have to know."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from assessor.work.models import Draw
from metaeval.hybrid_sides import Sides
from metaeval.hybrids import SHIFTED, Result
from metaeval.models import Hybrid
from metaeval.stats import hybrid as estimation
from metaeval.stats.hybrid import Target

FEW = 10  # judged topics, below which intervals are approximate
_TOLERANCE = 1e-9


class Mark(NamedTuple):
    """What whoever reads scores has to know. name: a word or two; told: the rest; is_grave: intervals may not hold."""

    name: str
    told: str
    is_grave: bool = True


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


def name_draws(draws: Iterable[Draw]) -> str:
    """Name draws of topics, each with the day it was made."""
    return "; ".join(f"{one}, {one.created_at:%Y-%m-%d}" for one in draws)


def _marks_of_draw(draw: Draw, sides: Sides) -> Iterator[Mark]:
    draws = list(draw.condition.draws.all())
    if len({one.seed for one in draws}) > 1:
        at = [one.pk for one in draws].index(draw.pk) + 1
        yield Mark("drawn again", f"This is draw {at} of {len(draws)} under {draw.condition}: {name_draws(draws)}.")
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
