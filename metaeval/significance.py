"""Which pairs of a condition's runs differ by a measure: kept results, and what pages and files show of them."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assessor.campaigns.models import Condition
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.report import quantity
from assessor.formats.tables import write_table
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import name_of, shown
from assessor.scores.loading import RunName
from assessor.scores.tables import SEED, systems_in
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.measures import measure_named
from metaeval.stats.layout import Cells, Layout, lay_out
from metaeval.stats.letters import in_letters, in_short
from metaeval.stats.means import Figures
from metaeval.stats.measures import LENGTH
from metaeval.stats.multiple_comparisons import (
    DRAWS,
    Method,
    PairTests,
    compare_pairs,
    discriminative_power,
    is_complete,
    randomised_tukey_hsds,
    tukey_hsd,
)
from metaeval.stats.significance import ALPHA

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

PAGE_CELLS = 50_000_000  # permuted scores that a page waits for: about a second
LEVELS = np.arange(1, 51) / 500
CELLS_WORDS = {
    Cells.ZERO: "Not submitted counts 0",
    Cells.MOST: "Runs with less than half of the topics left out, else not submitted counts 0",
    Cells.ANSWERED: "Not submitted does not count",
    Cells.COMMON: "Only topics on which all runs have a score",
}
METHOD_WORDS = {
    Method.T: "Paired t, uncorrected",
    Method.BH: "Benjamini-Hochberg",
    Method.TUKEY: "Tukey's HSD",
    Method.RANDOMISED: "Randomised Tukey HSD",
    Method.HOLM: "Holm",
}


class Significance(NamedTuple):
    """All pairs of the systems' runs of a condition, tested by a measure.

    runs: those compared; left_out: the tags of the others. topics: of how many that are judged some are compared.
    """

    condition: str
    measure: str
    cells: Cells
    runs: list[RunName]
    left_out: list[str]
    topics: int
    layout: Layout
    tests: PairTests
    seed: int

    @property
    def order(self) -> list[int]:
        """The places of the runs, the best mean first."""
        found: list[int] = np.argsort(-self.tests.means, kind="stable").tolist()
        return found

    @property
    def why_not(self) -> str:
        """Why there is no HSD; "" where there is one."""
        if self.tests.tukey:
            return ""
        runs, topics = self.layout.scores.shape
        if min(runs, topics) < 2:
            return "An HSD needs two runs and two topics at least."
        return (
            f"An HSD needs a score of every run on every topic, and {int(np.isnan(self.layout.scores).sum()):,} of "
            f"{runs * topics:,} are missing: not judged, without all labels, or not counted here. They can't count 0."
        )

    def least(self, method: Method) -> float | None:
        """Return the least difference that is significant, where a method has one for all pairs."""
        found = {Method.TUKEY: self.tests.tukey, Method.RANDOMISED: self.tests.randomised}.get(method)
        return found.least if found else None


def kept_significance(condition: Condition, cells: Cells, measure: str, *, permutes: bool = True) -> Significance:
    """Return how the runs differ, as pages and their files have it.

    permutes: by the randomised test too, with as many draws as take about a second.
    """
    draws = None if permutes else 0
    return kept_result(
        [condition],
        f"significance.{cells}.{measure}.{permutes}",
        lambda: compute_significance(condition, cells, measure, draws=draws),
    )


def compute_significance(
    condition: Condition, cells: Cells, measure: str, *, draws: int | None = None, seed: int = SEED
) -> Significance:
    """Return how the runs differ. draws: permutations, 0 for none; None for as many as a page waits for.

    measure: its key.
    """
    found = condition_scores(condition)
    is_system = systems_in(found)
    systems = [run for run in found.runs if not run.is_control]
    at = found.measures.keys.index(measure)
    layout = lay_out(found.scores[is_system, :, at], found.states[is_system], cells)
    if draws is None:
        draws = page_draws(layout.scores.size)
    kept = set(layout.runs.tolist())
    return Significance(
        name_of(condition),
        measure,
        cells,
        [systems[place] for place in layout.runs],
        [run.tag for place, run in enumerate(systems) if place not in kept],
        len(found.topics),
        layout,
        compare_pairs(layout.scores, draws=draws, seed=seed),
        seed,
    )


def page_draws(size: int, parts: int = 1) -> int:
    """Return how many permutations of a layout of so many cells a page waits for, shared by so many parts."""
    return max(1, min(DRAWS, PAGE_CELLS // parts // max(1, size)))


def sentence(found: Significance, method: Method) -> str:
    """Return in a sentence how many pairs of runs differ."""
    tests = found.tests
    if method not in tests.p:
        return found.why_not
    if not tests.pairs:
        return "No two runs have two topics in common."
    least = found.least(method)
    by = {
        Method.T: "by paired t-tests without a correction for the number of pairs",
        Method.BH: "by paired t-tests with Benjamini and Hochberg's correction",
        Method.HOLM: "by paired t-tests with Holm's correction",
        Method.TUKEY: f"by Tukey's HSD of {least or 0:.3f}",
        Method.RANDOMISED: f"by a randomised Tukey HSD of {least or 0:.3f}",
    }[method]
    differing = tests.differing(method)
    return (
        f"{differing:,} of {quantity(tests.pairs, 'pairs')} of runs {'differs' if differing == 1 else 'differ'}, {by}."
    )


class MethodCount(NamedTuple):
    """How many pairs differ by a method. value: "" where it is not tested; below: of how many, or why there is none."""

    method: Method
    label: str
    value: str
    below: str


def method_counts(found: Significance) -> list[MethodCount]:
    """Return how many pairs differ by each method."""
    counts = []
    for method, label in METHOD_WORDS.items():
        if method not in found.tests.p:
            is_left_out = method == Method.RANDOMISED and found.tests.tukey is not None
            told = ("", "permutations, about 1 s") if is_left_out else ("—", "incomplete scores")
            counts.append(MethodCount(method, label, *told))
            continue
        pairs, least = found.tests.pairs, found.least(method)
        share = f"{100 * found.tests.differing(method) / pairs:.0f} % of {pairs:,}" if pairs else "no pairs"
        more = f", HSD {least:.3f}" if least is not None else ""
        counts.append(MethodCount(method, label, f"{found.tests.differing(method):,}", share + more))
    return counts


def layout_notes(found: Significance) -> list[str]:
    """Return what of the scores is compared, in sentences."""
    layout, notes = found.layout, []
    if found.left_out:
        few = quantity(len(found.left_out), "runs")
        notes.append(
            f"{few} answered less than half of the topics and {'is' if len(found.left_out) == 1 else 'are'} left out."
        )
    if len(layout.topics) < found.topics:
        notes.append(f"{len(layout.topics):,} of {found.topics:,} topics are compared.")
    if layout.unanswered:
        were = "was" if layout.unanswered == 1 else "were"
        notes.append(f"{quantity(layout.unanswered, 'answers')} {were} not submitted.")
    if layout.unjudged:
        notes.append(f"{quantity(layout.unjudged, 'cells')} not judged or without all labels: never 0.")
    return notes


class RunRow(NamedTuple):
    """A run with its mean and letters; letters None where the method has none."""

    run: RunName
    mean: float
    letters: list[int]


def run_rows(found: Significance, method: Method) -> list[RunRow]:
    """Return the runs, the best first, with their letters; none where the method needs a complete layout."""
    has_letters = method in found.tests.p
    letters = found.tests.letters(method) if has_letters else [[] for _ in found.runs]
    return [RunRow(found.runs[at], float(found.tests.means[at]), letters[at]) for at in found.order]


def run_lines(found: Significance, method: Method) -> Iterator[str]:
    """Yield the table of runs as CSV."""
    columns = ("run_id", "team", "task", "condition", "policy", "measure", "correction", "hsd", "mean", "letters")
    least = found.least(method)
    hsd = None if least is None else shown(least)  # its last digits differ between machines
    same = (found.condition, str(found.cells), found.measure, str(method), hsd)
    return write_table(
        columns,
        (
            (row.run.tag, row.run.team, row.run.task, *same, shown(row.mean), in_letters(row.letters))
            for row in run_rows(found, method)
        ),
    )


def run_latex(found: Significance, method: Method) -> Iterator[str]:
    """Yield the table of runs for a paper (booktabs)."""
    measure = measure_named(found.measure)
    caption = (
        f"Runs under {as_latex(found.condition)}, {len(found.layout.topics)} topics. "
        f"{as_latex(sentence(found, method))} Runs that share a letter do not differ at the level {ALPHA:g}"
    )
    rows = (
        latex.row(
            (
                as_latex(row.run.tag),
                as_latex(row.run.task),
                "--" if np.isnan(row.mean) else f"{row.mean:.{measure.digits}f}",
                as_latex(in_short(row.letters)).replace("-", "--"),
            )
        )
        for row in run_rows(found, method)
    )
    return latex.table(caption, "llrl", ("Run", "Task", measure.latex, "Letters"), rows)


def pair_lines(found: Significance) -> Iterator[str]:
    """Yield all pairs as CSV: the difference of means, and the p-value by each method, adjusted for all pairs."""
    tests = found.tests
    columns = ("first", "second", "measure", "topics", "difference", *(f"p_{method}" for method in Method))
    one, other = np.triu_indices(len(found.runs), 1)
    nothing = np.full(len(one), np.nan)
    p = np.stack([tests.p.get(method, nothing) for method in Method], axis=1)
    rows = zip(one.tolist(), other.tolist(), tests.topics.tolist(), tests.difference.tolist(), p.tolist(), strict=True)
    return write_table(
        columns,
        (
            (found.runs[a].tag, found.runs[b].tag, found.measure, topics, shown(difference), *map(shown, values))
            for a, b, topics, difference, values in rows
        ),
    )


TABLES = ("runs.csv", "runs.tex", "pairs.csv")


def significance_tables(found: Significance, method: Method) -> dict[str, Iterator[str]]:
    """Return the tables of runs with their letters and of all pairs, by the names in TABLES."""
    return dict(zip(TABLES, (run_lines(found, method), run_latex(found, method), pair_lines(found)), strict=True))


def power(
    condition: Condition, cells: Cells, method: Method, *, draws: int | None = None, seed: int = SEED
) -> dict[str, Figures]:
    """Return the discriminative power of a condition's measures at LEVELS, by key; one without it is left out.

    draws: permutations for each measure; None for as many as a page waits for.
    """
    found = condition_scores(condition)
    is_system = systems_in(found)
    layouts = {
        key: lay_out(found.scores[is_system, :, at], found.states[is_system], cells).scores
        for at, key in enumerate(found.measures.keys)
        if key != LENGTH
    }
    p = _p_values(layouts, method, draws, seed)
    return {key: discriminative_power(p[key], LEVELS) for key in layouts if key in p}


def _p_values(layouts: dict[str, Figures], method: Method, draws: int | None, seed: int) -> dict[str, Figures]:
    """Return the p-values of all pairs by one method; without layouts that are incomplete, where it can't take these.

    draws: as power() has them.
    """
    if method not in (Method.TUKEY, Method.RANDOMISED):
        return {key: compare_pairs(scores, draws=0, seed=seed).p[method] for key, scores in layouts.items()}
    complete = {key: scores for key, scores in layouts.items() if is_complete(scores)}
    if method == Method.TUKEY:
        return {key: tukey_hsd(scores).p for key, scores in complete.items()}
    found: dict[str, Figures] = {}
    for shape in {scores.shape for scores in complete.values()}:
        alike = {key: scores for key, scores in complete.items() if scores.shape == shape}
        tested = randomised_tukey_hsds(
            list(alike.values()), draws=draws or page_draws(math.prod(shape), len(layouts)), seed=seed
        )
        found |= {key: hsd.p for key, hsd in zip(alike, tested, strict=True)}
    return found


def significance_figures(found: Significance, method: Method, shares: dict[str, Figures]) -> "list[NamedFigure]":
    """Return the runs' means with the HSD, and the discriminative power of the measures. shares: as power() has it."""
    from metaeval.charts.figures import NamedFigure
    from metaeval.charts.significance import means_figure, power_figure

    measure = measure_named(found.measure)
    words = METHOD_WORDS[method]
    means = means_figure(
        [run.tag for run in found.runs],
        found.tests.means,
        title=f"{measure.in_words}, {found.condition}",
        least=found.least(method),
    )
    by_label = {measure_named(key).in_words: of_measure for key, of_measure in shares.items()}
    return [
        NamedFigure("means", f"Means of runs and {words}", means),
        NamedFigure("power", f"Discriminative power by {words}", power_figure(LEVELS, by_label, correction=words)),
    ]


def kept_rows(condition: Condition, cells: Cells, measure: str, method: Method) -> tuple[Significance, list[RunRow]]:
    """Return how runs differ with their letters, kept together: to ask whether scores have changed takes longest."""

    def compute() -> tuple[Significance, list[RunRow]]:
        found = kept_significance(condition, cells, measure, permutes=method == Method.RANDOMISED)
        return found, run_rows(found, method)

    return kept_result([condition], f"significance.rows.{cells}.{measure}.{method}", compute)


def kept_figures(condition: Condition, cells: Cells, measure: str, method: Method) -> list[KeptFigure]:
    """Return the figures of a measure and a method."""

    def compute() -> list[KeptFigure]:
        shares = kept_result(
            [condition], f"significance.power.{cells}.{method}", lambda: power(condition, cells, method)
        )
        found = kept_significance(condition, cells, measure, permutes=method == Method.RANDOMISED)
        return keep_figures(significance_figures(found, method, shares))

    return kept_result([condition], f"significance.figures.{cells}.{measure}.{method}", compute)
