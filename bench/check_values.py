"""Recomputes published numbers and the check values of the statistics from the data of TREC 2024 RAG.

`python -m bench.check_values FOLDER` takes the folder with NIST's files and the papers' tables, named as below, prints
each value beside what it should be, and exits with the number of those that differ.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metaeval.stats.agreement import NO_VALUE, Level, Weights, count_labels, krippendorff_alphas
from metaeval.stats.bias import PERMUTATIONS, fit_trait, slope_test, team_orders
from metaeval.stats.calibration import even_values, expected_values, human_given_model, mean_value, wilson_interval
from metaeval.stats.correlation import kendall_tau
from metaeval.stats.generalizability import (
    Criterion,
    dependability,
    expected_tau,
    generalizability,
    pair_spread,
    smallest_difference,
    split_half_tau,
    variance_components,
)
from metaeval.stats.hybrid import hybrid_scores
from metaeval.stats.items import Flag, Item, item_statistics
from metaeval.stats.judges import pairwise_agreement
from metaeval.stats.means import Figures
from metaeval.stats.multiple_comparisons import DRAWS, Method, compare_pairs
from metaeval.stats.reusability import tau_without_teams
from metaeval.stats.top import top_taus

VECTORS = "test_vectors.json"
TREC = "trec-rag-2024"
NUGGETS = f"{TREC}/nugget_assignment.20241108.jl"
PEOPLE, MODEL = f"{TREC}/published_table6_edits_manual.csv", f"{TREC}/published_table7_auto_auto.csv"


class Check(NamedTuple):
    """A value and what it should be, equal within a tolerance."""

    name: str
    value: float
    expected: float
    tolerance: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the value is what it should be."""
        return abs(self.value - self.expected) <= self.tolerance


@cache
def vstrict(folder: Path) -> tuple[list[str], list[str], Figures]:
    """Return NIST's runs, topics and V_strict of each answer, (runs, topics), NaN where a run gave none."""
    found: dict[tuple[str, str], float] = {}
    for line in (folder / NUGGETS).read_text().splitlines():
        answer = json.loads(line)
        vital = [one["assignment"] == "support" for one in answer["nuggets"] if one["importance"] == "vital"]
        found[answer["run_id"], answer["qid"]] = sum(vital) / len(vital) if vital else 0.0
    runs, topics = (sorted({key[at] for key in found}) for at in (0, 1))
    return runs, topics, np.array([[found.get((run, topic), np.nan) for topic in topics] for run in runs])


@cache
def published(folder: Path, name: str) -> tuple[list[str], dict[str, Figures]]:
    """Return the runs of a paper's table, and its columns."""
    with (folder / name).open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["run_id"])
    measures = [column for column in rows[0] if column not in ("run_id", "task")]
    return [row["run_id"] for row in rows], {one: np.array([float(row[one]) for row in rows]) for one in measures}


# Support of the TREC 2024 RAG track, from scratch: people and GPT-4o (arXiv 2504.15205, Figure 3); rows are people's.
SUPPORT = np.array([[[923, 1018, 397], [187, 802, 663], [101, 601, 2050]]])
# DL19: how many passages of the highest grade are relevant (at least 2), with Wilson's intervals as scipy has them.
DL19 = {5: (500, 826, 0.571580, 0.638098), 4: (1392, 3699, 0.360842, 0.392051), 0: (486, 3965, 0.112729, 0.133147)}


def calibration_checks(_: Path | None) -> Iterator[Check]:
    """Yield what people say where a model gave a label."""
    values = even_values(3)
    for label, expected in zip((2, 1, 0), (0.7658, 0.4139, 0.1606), strict=True):
        found = expected_values(SUPPORT, values)[label].value
        yield Check(f"support: expected human value of model label {label}", found or 0.0, expected, 5e-5)
    for human, expected in zip((2, 1, 0), (0.659, 0.213, 0.128), strict=True):
        found = human_given_model(SUPPORT)[2][human].value
        yield Check(f"support: P(human {human} | model full)", found or 0.0, expected, 5e-4)
    yield Check("support: labels", float(SUPPORT.sum()), 6742)
    yield Check("support: mean of people", mean_value(SUPPORT, values).value or 0.0, 0.5307, 5e-5)
    yield Check("support: mean of the model", mean_value(SUPPORT.transpose(0, 2, 1), values).value or 0.0, 0.6408, 5e-5)
    for grade, (relevant, passages, *bounds) in DL19.items():
        yield from (
            Check(f"DL19: P(relevant | highest grade {grade}), {end}", found, expected, 5e-7)
            for end, found, expected in zip(
                ("low", "high"), wilson_interval(relevant / passages, passages), bounds, strict=True
            )
        )


def ppi_points(folder: Path) -> Iterator[Check]:
    """Yield estimates of one mean with the weights that ppi-python was run with; its intervals are not ours."""
    if not (folder / VECTORS).exists():
        return  # it is not among the published files
    vector = json.loads((folder / VECTORS).read_text())["ppi_mean"]
    human = [vector["Y"] + [np.nan] * 40]
    model = [vector["Yhat"] + [1.0] * 26 + [0.0] * 14]
    for name, expected in vector["results"].items():
        weight = expected["lam"] if "lam" in expected else float(name.removeprefix("lam="))
        found = hybrid_scores(human, model, "population", weight=weight)
        yield Check(f"prediction-powered mean, {name}", float(found.mean[0]), expected["point"], 5e-9)


def planning_checks(folder: Path) -> Iterator[Check]:
    """Yield what NIST's V_strict, unanswered as 0, predicts of another edition."""
    cells = vstrict(folder)[2]
    scores = np.nan_to_num(cells)
    components = variance_components(scores)
    for name, expected in (("run", 0.01708), ("topic", 0.02686), ("residual", 0.03040)):
        yield Check(f"variance component, {name}", getattr(components, name), expected, 6e-6)
    coefficients = {
        generalizability: {10: 0.8489, 21: 0.9219, 36: 0.9529, 56: 0.9692, 100: 0.9825},
        dependability: {10: 0.7490, 21: 0.8624, 36: 0.9148, 56: 0.9435, 100: 0.9676},
    }
    for coefficient, by_topics in coefficients.items():
        for topics, expected in by_topics.items():
            found = coefficient(components, topics).value
            yield Check(f"{coefficient.__name__} of {topics} topics", found or 0.0, expected, 5e-5)
    differences = {
        Criterion.Z: (0.151, 0.115, 0.092, 0.069, 0.040),
        Criterion.T: (0.158, 0.118, 0.094, 0.070, 0.040),
        Criterion.HSD: (0.258, 0.197, 0.158, 0.118, 0.068),
    }
    for criterion, row in differences.items():
        for topics, expected in zip((21, 36, 56, 100, 301), row, strict=True):
            found = smallest_difference(components, topics, len(scores), criterion)
            yield Check(f"smallest difference on {topics} topics, {criterion}", float(found), expected, 5e-4)
    for end, value, expected in zip(("5 %", "95 %"), pair_spread(scores), (0.48, 1.73), strict=True):
        yield Check(f"variance of pairs' differences, {end}", value, expected, 5e-3)
    whole = variance_components(scores[np.isnan(cells).sum(axis=1) < 10])
    yield Check("runs but the incomplete one", whole.runs, 44)
    yield Check("variance component, run, of these", whole.run, 0.01437, 5e-6)
    yield Check("generalizability of 21 topics, of these", generalizability(whole, 21).value or 0.0, 0.9087, 5e-5)
    halves = split_half_tau(scores, seed=0)
    for end, value, expected in zip(
        ("mean", "low", "high"), (halves.mean, halves.low, halves.high), HALVES, strict=True
    ):
        yield Check(f"tau of halves of 10 topics, {end}", value or 0.0, expected, 5e-3)
    # Within what the halves' taus lie in.
    middle, reach = (HALVES[1] + HALVES[2]) / 2, (HALVES[2] - HALVES[1]) / 2
    yield Check("tau predicted of halves of 10 topics", expected_tau(components, 10).value or 0.0, middle, reach)


HALVES = (0.6631, 0.576, 0.749)  # tau of runs on halves of 10 topics, 2,000 draws: mean, 2.5 and 97.5 %


def significance_checks(folder: Path) -> Iterator[Check]:
    """Pairs of NIST's runs that differ in V_strict, by each correction, with all runs and without one.

    Answers that were not submitted count 0; 17 of the 18 are of the run that is left out.
    """
    _, _, found = vstrict(folder)
    is_there = ~np.isnan(found)
    scores = np.where(is_there, found, 0)
    least = is_there.sum(axis=1).argmin()
    for name, cells, expected, randomised in (
        ("all runs", scores, (990, 574, 511, 263, 154), (162, 1)),
        ("without one", np.delete(scores, least, axis=0), (946, 532, 460, 225, 120), (142, 2)),
    ):
        tests = compare_pairs(cells, draws=DRAWS, seed=0)
        methods = (Method.T, Method.BH, Method.TUKEY, Method.HOLM)
        counts = (tests.pairs, *map(tests.differing, methods))
        for what, value, count in zip(("pairs", *methods), counts, expected, strict=True):
            yield Check(f"significance, {name}: {what}", value, count)
        yield Check(f"significance, {name}: randomised", tests.differing(Method.RANDOMISED), *randomised)
        if name == "all runs" and tests.tukey and tests.randomised:
            yield Check("Tukey's q", tests.tukey.q or 0, 5.5972, 5e-5)
            yield Check("Tukey's HSD", tests.tukey.least, 0.2130, 5e-5)
            yield Check("randomised HSD", tests.randomised.least, 0.265, 1e-3)


def item_checks(folder: Path) -> Iterator[Check]:
    """Yield the item analysis of NIST's nuggets, where partial support counts a half, and where it counts nothing."""
    for name, partial, expected in (
        ("items", 0.5, (17, 1, 18, 20, 0.332)),
        ("strict items", 0.0, (29, 1, 30, 26, 0.322)),
    ):
        found = nugget_items(folder, partial)
        correlations = [one.correlation.value for _, one in found if one.correlation.value is not None]
        flags = [flag for _, one in found for flag in one.flags]
        yield Check(f"{name}: nuggets", len(found), 298)
        yield Check(f"{name}: never found", flags.count(Flag.NEVER_FOUND), expected[0])
        yield Check(f"{name}: found by all", flags.count(Flag.FOUND_BY_ALL), expected[1])
        yield Check(f"{name}: undefined item-rest correlation", len(found) - len(correlations), expected[2])
        yield Check(f"{name}: negative item-rest correlation", flags.count(Flag.NEGATIVE), expected[3])
        yield Check(f"{name}: median item-rest correlation", float(np.median(correlations)), expected[4], 5e-4)
    for importance, nuggets, difficulty, correlation in (("vital", 203, 0.412, 0.332), ("okay", 95, 0.317, 0.307)):
        some = [one for of, one in nugget_items(folder, 0.5) if of == importance]
        yield Check(f"items, {importance}: nuggets", len(some), nuggets)
        p, r = ([getattr(one, name).value for one in some] for name in ("difficulty", "correlation"))
        yield Check(f"items, {importance}: mean p", float(np.mean(p)), difficulty, 5e-4)
        yield Check(
            f"items, {importance}: mean r", float(np.mean([one for one in r if one is not None])), correlation, 5e-4
        )


@cache
def nugget_items(folder: Path, partial: float) -> list[tuple[str, Item]]:
    """Return the importance and statistics of each of NIST's nuggets. partial: what partial support counts."""
    counts = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
    values: dict[str, list[list[float]]] = {}
    importance: dict[str, list[str]] = {}
    for line in (folder / NUGGETS).read_text().splitlines():
        answer = json.loads(line)
        values.setdefault(answer["qid"], []).append([counts[one["assignment"]] for one in answer["nuggets"]])
        importance[answer["qid"]] = [one["importance"] for one in answer["nuggets"]]
    return [
        pair for topic, given in values.items() for pair in zip(importance[topic], item_statistics(given), strict=True)
    ]


# Of the tables' V_strict, by the number of best runs: tau, and what equal noise gives.
AT_THE_TOP = {
    **{5: (0.200, 0.30), 10: (0.467, 0.54), 15: (0.505, 0.54)},
    **{20: (0.611, 0.60), 30: (0.641, 0.65), 45: (0.783, 0.78)},
}


def top_checks(folder: Path) -> Iterator[Check]:
    """Yield tau of the best runs, by people's and by the model's table, and of the runs of each task."""
    people, model = (published(folder, name)[1]["vstrict"] for name in (PEOPLE, MODEL))
    found = top_taus(people, model, seed=0, draws=10_000)
    for point in found.reference:
        tau, of_noise = AT_THE_TOP[point.k]
        yield Check(f"tau of the best {point.k} runs by people", point.tau.value or 0.0, tau, 5e-4)
        yield Check(f"tau of the best {point.k} runs, equal noise", point.expected or 0.0, of_noise, 0.01)
    yield Check("tau of the best 5 runs by the model", found.candidate[0].tau.value or 0.0, 1, 1e-12)
    with (folder / PEOPLE).open(newline="") as file:
        tasks = np.array([row["task"] for row in sorted(csv.DictReader(file), key=lambda row: row["run_id"])])
    for task, expected in (("AG", 0.736), ("RAG", 0.771)):
        tau = kendall_tau(people[tasks == task], model[tasks == task])
        yield Check(f"tau of {task} runs", tau.value or 0.0, expected, 5e-4)


def reusability_checks(folder: Path) -> Iterator[Check]:
    """Yield tau of Tables 6 and 7 without the runs of one team, named before the first dot of a run's id."""
    runs, people = published(folder, PEOPLE)
    found = tau_without_teams(
        people["vstrict"], published(folder, MODEL)[1]["vstrict"], [run.split(".")[0] for run in runs]
    )
    taus = {team: tau.value or 0.0 for team, tau in found.items()}
    yield Check("teams left out of Tables 6 and 7", len(taus), 23)
    yield Check("least tau without a team", min(taus.values()), 0.762, 5e-4)
    yield Check("tau without IRIT is the least", taus["IRIT"], min(taus.values()))
    yield Check("largest tau without a team", max(taus.values()), 0.807, 5e-4)
    yield Check("tau without WaterlooClarke is the largest", taus["WaterlooClarke"], max(taus.values()))


# Of Tables 6 and 7 by measure: how much more GPT-4o gives GPT runs than people do, with p; the difference of residuals.
FAVOURS = {"vstrict": (-0.0386, 0.031, 0.0049, 0.683), "astrict": (-0.0304, 0.029, 0.0023, 0.81)}


def bias_checks(folder: Path) -> Iterator[Check]:
    """Yield what GPT-4o gives the 12 runs with "gpt" or "4o" in their ids: an illustration, as tags are a proxy."""
    runs, people = published(folder, PEOPLE)
    model = published(folder, MODEL)[1]
    is_gpt = np.array(["gpt" in run.lower() or "4o" in run.lower() for run in runs])
    yield Check("runs with GPT in their ids", int(is_gpt.sum()), 12)
    orders = team_orders(range(len(runs)), 5 * PERMUTATIONS, seed=0)  # each run for itself
    for measure, (raw, raw_p, residual, p) in FAVOURS.items():
        m, h = model[measure], people[measure]
        difference = slope_test(m - h, is_gpt, orders)
        yield Check(f"difference of GPT runs, {measure}", difference.value, raw, 5e-5)
        yield Check(f"p of that, {measure}", difference.p, raw_p, 5e-3)
        residuals = slope_test(m - fit_trait(m, h, is_gpt).slope * h, is_gpt, orders)
        yield Check(f"difference of residuals of GPT runs, {measure}", residuals.value, residual, 5e-5)
        yield Check(f"p of that, {measure}", residuals.p, p, 5e-3)
    yield Check(
        "slope of GPT-4o on people, vstrict",
        float(fit_trait(model["vstrict"], people["vstrict"], is_gpt).slope),
        0.697,
        5e-4,
    )
    reliability = generalizability(variance_components(np.nan_to_num(vstrict(folder)[2])), 21).value or 1.0
    corrected = fit_trait(model["vstrict"], people["vstrict"], is_gpt, reliability)
    yield Check(
        "difference of residuals of GPT runs, for the reliability of people", float(corrected.residual), -0.0036, 5e-5
    )


UMBRELA = "rag25-dev-umbrela-qrels"
# Who graded 26,341 passages of 22 topics from 0 to 4, in files of rag25-climbmix-umbrela-….qrels.
GRADED_BY = {
    "gpt": "codex-gpt5.5-medium-reasoning-v1",
    "ministral 2": "ministral-3-14b-instruct-2512-v2",
    "qwen 2": "qwen3.5-9b-v2",
    "ministral 1": "ministral-3-14b-instruct-2512-v1",
    "qwen 1": "qwen3.5-9b-v1",
}
# Of each two of these, in their order: kappa, unweighted and quadratic.
GRADE_KAPPAS = (
    *((0.2111, 0.6019), (0.3009, 0.6593), (0.2655, 0.6350), (0.2898, 0.6608), (0.3741, 0.7357)),
    *((0.5168, 0.8182), (0.3703, 0.7437), (0.4962, 0.7798), (0.7751, 0.9100), (0.4715, 0.7816)),
)
GRADE_ALPHAS = {Level.NOMINAL: 0.271986, Level.ORDINAL: 0.654833, Level.INTERVAL: 0.659081}  # of the first three


def judge_checks(folder: Path) -> Iterator[Check]:
    """Yield how far models, and two prompts of one model, agree on grades of TREC RAG's development data for 2026."""
    if not (folder / UMBRELA).is_dir():
        return  # public, in TREC-RAG/trec-rag-data; it is not of 2024
    given = [_grades(next((folder / UMBRELA).rglob(f"*-{name}.qrels"))) for name in GRADED_BY.values()]
    passages = sorted(set().union(*given))
    codes = np.array([[grades.get(passage, NO_VALUE) for passage in passages] for grades in given])
    yield Check("judges: passages", len(passages), 26_341)
    names = list(GRADED_BY)
    for (two, found), expected in zip(pairwise_agreement(codes, 5).items(), GRADE_KAPPAS, strict=True):
        for weights, value in zip((Weights.UNWEIGHTED, Weights.QUADRATIC), expected, strict=True):
            who = " and ".join(names[at] for at in two)
            yield Check(f"judges: kappa, {weights}, {who}", getattr(found, weights).value or 0.0, value, 5e-5)
    for level, alpha in krippendorff_alphas(codes[:3], 5, Level).items():
        yield Check(f"judges: alpha, {level}", alpha.value or 0.0, GRADE_ALPHAS[level], 5e-7)
    for grade, (count, expected) in enumerate(
        zip(count_labels(codes[0], 5).tolist(), (4710, 8647, 6574, 3914, 2496), strict=True)
    ):
        yield Check(f"judges: grade {grade} by gpt", count, expected)
    for grade, expected in ((1, 415), (4, 1)):
        yield Check(f"judges: grade {grade} by ministral 2", int((codes[1] == grade).sum()), expected)


def _grades(path: Path) -> dict[tuple[str, str], int]:
    """Return the grades of a file by topic and passage."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {(topic, docid): int(grade) for topic, _, docid, grade in lines}


# Each takes the folder.
CHECKS: list[Callable[[Path], Iterator[Check]]] = [
    calibration_checks,
    ppi_points,
    planning_checks,
    significance_checks,
    item_checks,
    top_checks,
    reusability_checks,
    bias_checks,
    judge_checks,
]


def main(folder: Path) -> int:
    """Print each value beside what it should be; return how many differ."""
    differ = 0
    for check in (one for checks in CHECKS for one in checks(folder)):
        differ += not check.holds
        sign = "equal" if check.holds else "DIFFERS"
        print(f"{sign:8}{check.value:>14.6g}{check.expected:>14.6g}  {check.name}")
    return differ


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
