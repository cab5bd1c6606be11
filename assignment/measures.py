"""What score tables call nugget scores."""

from assignment.scores import COLUMNS
from metaeval.stats.measures import Measure, Measures

# Of each, strict and not; the last of these is what the nuggetizer's score files call it.
_MEANS = (("V", "vital"), ("W", "weighted"), ("A", "all"))

NUGGET_SCORES = Measures(
    all=(
        *(
            Measure(
                key=f"{letter.lower()}{strict}",
                label=letter,
                below=strict,
                latex=f"${letter}_{{\\mathrm{{strict}}}}$" if strict else f"${letter}$",
                json=f"strict_{name}_score" if strict else f"{name}_score",
            )
            for letter, name in _MEANS
            for strict in ("strict", "")
        ),
        Measure("length", "L", "", "$L$", "length", digits=2),
    ),
    title="Nugget scores",
    legend="V is over the vital nuggets, A over all, W over all with okay ones at half weight; strict counts support "
    "alone, the others partial support as a half. L is the answer's words. — is undefined.",
    lacking="some nugget has no label that counts there",
)
assert NUGGET_SCORES.keys == COLUMNS
