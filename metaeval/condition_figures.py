"""Figures of one condition's scores."""

from assessor.campaigns.models import Condition
from metaeval.inputs import systems_matrix
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.measures import measure_labels
from metaeval.stats.means import Policy


def condition_figures(condition: Condition, policy: Policy, measure: str) -> list[KeptFigure]:
    """Return a measure, by its key, against the answers' length, and of support precision against recall.

    They show systems' runs alone, as those of comparisons do, and are kept until the scores change.
    """

    def draw() -> list[KeptFigure]:
        from metaeval.charts.comparison import side_figures

        matrix = systems_matrix(condition, policy)
        return keep_figures(list(side_figures(matrix, measure, measure_labels(matrix.measures))))

    return kept_result([condition], f"score-figures.{policy}.{measure}", draw)
