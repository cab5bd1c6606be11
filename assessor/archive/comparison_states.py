"""What names the state of a comparison's sides has keys in it, so that it is another in every database.

A result may have been computed from what there still is. An archive says only that it is so, and restoring names the
state that the sides then have: the result goes on being that of the present labels. A state of the past stays as it
was named, and equals none.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from metaeval.inputs import state
from metaeval.models import Calculation, Comparison


def forget(record: dict[str, Any]) -> None:
    """Replace the states in a calculation's inputs by None where they are the present ones."""
    if not record["inputs"]:
        return
    comparison = Comparison.objects.get(pk=record["comparison_id"])
    inputs = record["inputs"] = {name: dict(told) for name, told in record["inputs"].items()}
    for part, key, of in _parts(comparison):
        if part in inputs and inputs[part].get(key) == state(of):
            inputs[part][key] = None


def name_again(calculations: QuerySet[Calculation]) -> None:
    """Name the present states in the inputs of calculations that were restored."""
    for calculation in calculations.select_related("comparison").defer("result", "files"):
        inputs = calculation.inputs
        present = [
            (part, key, of)
            for part, key, of in _parts(calculation.comparison)
            if part in inputs and key in inputs[part] and inputs[part][key] is None
        ]
        for part, key, of in present:
            inputs[part][key] = state(of)
        if present:
            Calculation.objects.filter(pk=calculation.pk).update(inputs=inputs)


def _parts(comparison: Comparison) -> Iterator[tuple[str, str, Any]]:
    for part, record, support in (
        ("first", comparison.first, comparison.first_support),
        ("second", comparison.second, comparison.second_support),
    ):
        yield part, "state", record
        if support:
            yield part, "support_state", support
    if comparison.topics_of:
        yield "topics_of", "state", comparison.topics_of
