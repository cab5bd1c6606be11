"""Figures of one condition's scores."""

from typing import TYPE_CHECKING

from assessor.campaigns.models import Condition
from metaeval.inputs import systems_matrix
from metaeval.measures import measure_labels
from metaeval.stats.means import Policy

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure


def condition_figures(condition: Condition, policy: Policy, measure: str) -> "list[NamedFigure]":
    """Return a measure, by its key, against the answers' length, and of support precision against recall.

    They show systems' runs alone, as those of comparisons do.
    """
    from metaeval.charts.comparison import side_figures

    matrix = systems_matrix(condition, policy)
    return list(side_figures(matrix, measure, measure_labels(matrix.measures)))
