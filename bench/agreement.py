"""How long the statistics of a comparison take at a track's size, and how much memory; no database.

    python -m bench.agreement [--runs 146] [--topics 301]

Two made-up conditions label 19 nuggets a topic (10 to 28 of them) in each answer of each run: about 830,000 pairs of
labels, from which all six scores of each answer come. Then four processes of their own only start; compute every
statistic but the bootstrap; draw a bootstrap of 1,000 for tau at its three levels in all six measures; and permute 45
runs on 21 topics 100,000 times. The third one also resamples 20 of the draws literally, cell by cell, with scipy's
kendalltau: both must agree, and the ratio is told. What is over its limit, or differs, fails the benchmark.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench import house

DRAWS, LITERAL = 1_000, 20
JUDGED = 45, 21  # runs and topics that NIST judged in 2024
LIMITS = {"statistics": 5, "bootstrap": 5, "permutations": 3}  # seconds
MEMORY_LIMIT = 1024  # MiB
SAME = 1e-12
_SHARES = (0.6, 0.04, 0.36)  # of not_support, partial_support, support

Scores = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int8]


class Track(NamedTuple):
    """What two conditions say: labels (pairs,) and scores (runs, topics, measures)."""

    labels: tuple[Labels, Labels]
    scores: tuple[Scores, Scores]


def build(runs: int, topics: int) -> Track:
    """Make up a track, the same each time."""
    from assignment.measures import NUGGET_SCORES, answer_scores

    chance = np.random.default_rng(830)
    quality = chance.normal(scale=0.5, size=(runs, 1))
    bounds = np.cumsum(_SHARES)[:-1]
    labels: tuple[list[Labels], list[Labels]] = [], []
    means = [at for at, key in enumerate(NUGGET_SCORES.keys) if key != "length"]
    scores = np.empty((2, runs, topics, len(means)))
    for topic in range(topics):
        nuggets = int(chance.integers(10, 29))
        importance = chance.integers(0, 2, nuggets)
        truth = chance.normal(size=(runs, nuggets)) + quality
        for side in range(2):
            noisy = truth + chance.normal(scale=0.7, size=truth.shape)
            given = np.searchsorted(np.quantile(noisy, bounds), noisy).astype(np.int8)
            labels[side].append(given.ravel())
            scores[side, :, topic] = answer_scores(given, importance)[:, means]
    return Track((np.concatenate(labels[0]), np.concatenate(labels[1])), (scores[0], scores[1]))


def nothing(track: Track) -> dict[str, float]:
    """Only start."""
    return {}


def statistics(track: Track) -> dict[str, float]:
    """Compute everything but the bootstrap, for all six measures."""
    from metaeval.stats import agreement, correlation, descriptive, levels, significance

    start = time.perf_counter()
    first, second = track.labels
    agreement.rate_agreement(agreement.confusion_matrix(first, second, 3))
    for level in agreement.Level:
        agreement.krippendorff_alpha(np.stack([first, second]), 3, level)
    for one in (first, second):
        descriptive.shares(one, 3)
    for measure in range(track.scores[0].shape[2]):
        x, y = (scores[..., measure] for scores in track.scores)
        levels.tau_levels(x, y)
        significance.significance_agreement(x, y)
        means = x.mean(axis=1), y.mean(axis=1)
        for statistic in (
            correlation.tau_ap_a,
            correlation.tau_ap_b,
            correlation.rbo,
            correlation.pearson,
            correlation.spearman,
        ):
            statistic(*means)
        correlation.largest_drop(*means)
        descriptive.topic_means(x)
    return {"s": time.perf_counter() - start, "pairs": len(first)}


def bootstrap(track: Track) -> dict[str, float]:
    """Draw the bootstrap; the same literally, for a few of the draws."""
    from scipy.stats import kendalltau

    from metaeval.stats.bootstrap import bootstrap_tau, count_topics, draw_topics, replicates

    start = time.perf_counter()
    bootstrap_tau(*track.scores, seed=1, draws=DRAWS)
    took = time.perf_counter() - start
    topics, measures = track.scores[0].shape[1:]
    drawn = draw_topics(topics, DRAWS, seed=1)[:LITERAL]
    largest, literally = 0.0, 0.0
    for measure in range(measures):
        x, y = (scores[..., measure] for scores in track.scores)
        found = replicates(x, y, count_topics(drawn, topics))
        start = time.perf_counter()
        by_topic = np.array([kendalltau(x[:, at], y[:, at]).statistic for at in range(topics)])
        for at, draw in enumerate(drawn):
            one, other = x[:, draw], y[:, draw]
            means = [side.mean(axis=1).round(10) for side in (one, other)]
            expected = (
                kendalltau(*means).statistic,
                np.nanmean(by_topic[draw]),
                kendalltau(one.ravel(), other.ravel()).statistic,
            )
            pairs = zip(expected, found, strict=True)
            largest = max(largest, *(abs(value - values[at]) for value, values in pairs))
        literally += time.perf_counter() - start
    return {"s": took, "literal s": literally / LITERAL * DRAWS, "difference": largest}


def permutations(track: Track) -> dict[str, float]:
    """Permute the scores of as many runs and topics as NIST judged, for the randomised HSD."""
    from metaeval.stats.multiple_comparisons import DRAWS, randomised_tukey_hsd

    runs, topics = JUDGED
    start = time.perf_counter()
    randomised_tukey_hsd(track.scores[0][:runs, :topics, 0], draws=DRAWS, seed=1)
    return {"s": time.perf_counter() - start}


STEPS: dict[str, Callable[[Track], dict[str, float]]] = {
    "start": nothing,
    "statistics": statistics,
    "bootstrap": bootstrap,
    "permutations": permutations,
}


def in_a_process(step: str, runs: int, topics: int) -> dict[str, float]:
    """Do a step in a process of its own; return its figures and the peak of its memory in MiB."""
    command = [sys.executable, "-m", "bench.agreement", "--step", step, f"--runs={runs}", f"--topics={topics}"]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the statistics of a comparison of a track's size.")
    parser.add_argument("--runs", type=int, default=146)
    parser.add_argument("--topics", type=int, default=301)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        found = STEPS[chosen.step](build(chosen.runs, chosen.topics))
        print(json.dumps(found | {"MiB": house.peak()}))
        return
    raise SystemExit(report(chosen.runs, chosen.topics))


def report(runs: int, topics: int) -> int:
    """Measure and print everything; return how many figures are over their limits."""
    found = {step: in_a_process(step, runs, topics) for step in STEPS}
    drawn = found["bootstrap"]
    print(f"{runs} runs, {topics} topics, {found['statistics']['pairs']:,} pairs of labels, six measures")
    print(f"peak of a process with the labels and scores alone: {found['start']['MiB']:.0f} MiB")
    print(
        f"{DRAWS:,} literal draws with scipy's kendalltau would take {drawn['literal s']:.0f} s, "
        f"{drawn['literal s'] / drawn['s']:.0f} times as long"
    )
    limits = [
        *((step, "s", found[step]["s"], float(limit)) for step, limit in LIMITS.items()),
        *((step, "MiB", found[step]["MiB"], float(MEMORY_LIMIT)) for step in LIMITS),
        (f"largest difference of {LITERAL} draws", "", drawn["difference"], SAME),
    ]
    for what, unit, figure, limit in limits:
        print(f"{what}: {figure:.3g} {unit}, limit {limit:g}{' OVER' if figure > limit else ''}")
    return sum(figure > limit for _, _, figure, limit in limits)


if __name__ == "__main__":
    main()
