"""Figures of one condition's scores."""

from typing import TYPE_CHECKING

import numpy as np

from assessor.campaigns.models import Condition
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import name_of
from assessor.scores.tables import systems_in
from metaeval.inputs import score_matrix
from metaeval.measures import measure_labels
from metaeval.stats.means import Policy

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure


def condition_figures(condition: Condition, policy: Policy, measure: str) -> "list[NamedFigure]":
    """Return a measure, by its key, against the answers' length, and of support precision against recall.

    They show systems' runs alone, as those of comparisons do.
    """
    from metaeval.charts.comparison import side_figures

    found = condition_scores(condition)
    matrix = score_matrix(name_of(condition), found, policy)
    systems = np.flatnonzero(systems_in(found)).tolist()
    matrix = matrix._replace(
        runs=[matrix.runs[at] for at in systems],
        tasks=[matrix.tasks[at] for at in systems],
        cells=matrix.cells[systems],
        means=matrix.means[systems],
    )
    return list(side_figures(matrix, measure, measure_labels(matrix.measures)))
