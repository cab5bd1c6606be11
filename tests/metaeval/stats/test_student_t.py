"""Student's t distribution."""

import numpy as np
import pytest
from scipy import special

from metaeval.stats.student_t import two_sided_p


@pytest.mark.filterwarnings("error")
def test_probabilities_are_scipys():
    t = np.array([0, 1e-12, 0.1, 0.9, 1, 1.7, 2.6, 9, 60, np.inf])
    degrees = np.array([1, 2, 3, 4, 29, 300, 2_000])
    t, degrees = np.broadcast_arrays(t[:, np.newaxis], degrees)
    assert two_sided_p(t, degrees) == pytest.approx(2 * special.stdtr(degrees, -t), rel=1e-12, abs=1e-290)
