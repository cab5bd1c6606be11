"""The two sides of hybrid scores: what people and a model say of the same runs and topics."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from assessor.campaigns.models import Condition
from assessor.scores.cache import condition_scores
from assessor.scores.tables import systems_in
from assessor.work.models import Draw
from metaeval.inputs import Gap, NothingToCompare, runs_matrix, without_relative
from metaeval.models import Hybrid
from metaeval.stats.means import COMPLETE, INCOMPLETE, Figures, Policy
from metaeval.stats.measures import LENGTH
from metaeval.stats.score_matrix import ScoreMatrix


class Sides(NamedTuple):
    """What people and a model say of the same runs and topics, by the same measures: arrays (runs, topics, measures).

    NaN where people, or the model, did not judge. gaps: what only one of them has; incomplete: how many answers lack
    labels of people, and of the model, on topics that they judge; waiting: drawn topics on which people said nothing.
    people: what people say of all topics, drawn or not.
    """

    human_name: str
    model_name: str
    runs: list[str]
    tasks: list[str]
    topics: list[str]
    measures: list[str]
    human: Figures
    model: Figures
    people: Figures
    gaps: list[Gap]
    incomplete: tuple[int, int] = (0, 0)
    waiting: Sequence[str] = ()


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
    people = np.full((len(runs), len(topics), len(measures)), np.nan)
    common = [qid for qid in human.topics if qid in set(topics)]
    people[:, [topics.index(qid) for qid in common]] = _part(human, runs, common, measures)
    is_judged = np.array([qid in judged for qid in topics], dtype=bool)
    tasks = {run: task for one in (model, human) for run, task in zip(one.runs, one.tasks, strict=True) if task}
    return Sides(
        human_name=human.name,
        model_name=model.name,
        runs=runs,
        tasks=[tasks.get(run, "") for run in runs],
        topics=topics,
        measures=measures,
        human=np.where(is_judged[np.newaxis, :, np.newaxis], people, np.nan),
        people=people,
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
    found = condition_scores(condition)
    matrix = runs_matrix(condition, policy, np.array([run.is_independent for run in found.runs], dtype=bool))
    is_judged = (found.states[systems_in(found)] == COMPLETE).any(axis=0)
    return matrix._replace(cells=np.where(is_judged[np.newaxis, :, np.newaxis], matrix.cells, np.nan))


def _incomplete(condition: Condition) -> int:
    """Return how many answers lack labels, of those to topics on which others are judged."""
    found = condition_scores(condition)
    states = found.states[systems_in(found)]
    begun = (states == COMPLETE).any(axis=0)
    return int((states[:, begun] == INCOMPLETE).sum())
