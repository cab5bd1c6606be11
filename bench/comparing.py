"""How long comparing two conditions of a track's size takes, and its page, from and in the database.

    python -m bench.comparing [--scale 0.1] [--keep FOLDER] [--database URL]

A track with 146 runs and 301 topics gets two conditions on the same 19 nuggets a topic, with labels by chance: 829,274
pairs. Then processes of their own only start; load both sides and compute every statistic but the bootstrap; compute
and store the whole comparison, 1,000 draws and all figures; and ask for its page with every figure that it draws.
"""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house
from bench.scores import label, load

if TYPE_CHECKING:
    from metaeval.models import Comparison

FIRST, SECOND = "First", "Second"
LIMITS = {"statistics": 5, "page": 2}  # seconds
MEMORY_LIMIT = 1024  # MiB
_TIMES = 20  # the page is asked for


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with the track, two conditions and a comparison that is not computed yet."""
    from metaeval.actions import create_comparison

    campaign = load(folder, scale)
    first, second = (label(campaign, name=name, seed=830 + at) for at, name in enumerate((FIRST, SECOND)))
    create_comparison(campaign=campaign, first=first, second=second, seed=7, acting_user=None)


def _comparison() -> "Comparison":
    from metaeval.models import Comparison

    return Comparison.objects.select_related("campaign").get()


def nothing() -> dict[str, float]:
    """Only start."""
    return {}


def statistics() -> dict[str, float]:
    """Load both sides and compute everything but the bootstrap: one draw of it stands for none."""
    from metaeval.inputs import load_input, match_inputs, names_of
    from metaeval.label_report import report_labels
    from metaeval.stats.comparison import compare
    from metaeval.stats.means import Policy

    comparison = _comparison()
    start = time.perf_counter()
    names = names_of(comparison.campaign)
    first, second = (load_input(record, Policy.ZERO, names) for record in (comparison.first, comparison.second))
    loaded = time.perf_counter() - start
    assert first.scores
    assert second.scores
    scores, _ = match_inputs(first.scores, second.scores)
    compare(scores, seed=7, draws=1)
    labels = report_labels(first, second, len(first.words))
    assert labels
    return {"s": time.perf_counter() - start, "loading s": loaded, "pairs": labels.report["pairs"]}


def compute() -> dict[str, float]:
    """Compute and store the comparison as the worker does."""
    from metaeval.actions import calculate_again, run

    start = time.perf_counter()
    calculation = run(calculate_again(_comparison(), acting_user=None))
    assert calculation.state == "done", calculation.why
    return {"s": time.perf_counter() - start, "figures": calculation.figures.count()}


def page() -> dict[str, float]:
    """Ask for the page and all figures on it, as the organizer's browser does, one after another."""
    from django.test import Client

    client = Client(HTTP_HOST="localhost")
    client.cookies["sessionid"] = house.session(_comparison().campaign.created_by)
    address = f"/campaigns/{house.SLUG}/comparisons/{_comparison().pk}/"
    took = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        response = client.get(address)
        assert response.status_code == 200
        text = response.content.decode()
        figures = re.findall(r'data-figure="([^"]+)"', text)
        sizes = [len(client.get(figure).content) for figure in figures]
        took.append(time.perf_counter() - start)
    return {"s": max(took[1:]), "first s": took[0], "figures": len(sizes), "MB of figures": sum(sizes) / 1e6}


STEPS: dict[str, Callable[[], dict[str, float]]] = {
    "start": nothing,
    "statistics": statistics,
    "compute": compute,
    "page": page,
}


def main() -> None:
    chosen = house.arguments("Measure a comparison of a track's size, and its page.", STEPS).parse_args()
    if chosen.step:
        import django

        django.setup()
        print(json.dumps(STEPS[chosen.step]() | {"MiB": house.peak()}))
        return
    house.measure(chosen, build, report)


def report() -> int:
    """Measure and print everything; return how many figures are over their limits."""
    found = {step: house.in_a_process("bench.comparing", step) for step in STEPS}
    for step, figures in found.items():
        print(f"{step:10} {', '.join(f'{name} {figure:,.4g}' for name, figure in figures.items())}", flush=True)
    limits = [
        *((step, "s", found[step]["s"], float(limit)) for step, limit in LIMITS.items()),
        *((step, "MiB", found[step]["MiB"], float(MEMORY_LIMIT)) for step in STEPS),
    ]
    for what, unit, figure, limit in limits:
        print(f"{what}: {figure:.3g} {unit}, limit {limit:g}{' OVER' if figure > limit else ''}")
    return sum(figure > limit for _, _, figure, limit in limits)


if __name__ == "__main__":
    main()
