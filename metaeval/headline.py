"""What a comparison came to, in a few sentences and figures: every word follows from a number of its result."""

import math
from typing import Any, NamedTuple

import numpy as np

from assessor.campaigns.models import Condition
from assessor.formats.report import quantity
from metaeval.measures import measure_named
from metaeval.models import Comparable, Comparison
from metaeval.stats.correlation import places
from metaeval.stats.measures import LENGTH

Json = dict[str, Any]
# What sentences say of tau of runs: from this value on. There are no such limits in the field; 0.9 is often taken for
# rankings that are equal for all purposes (Voorhees, SIGIR 1998).
ALMOST_THE_SAME = 0.9
_ALIKE = ((ALMOST_THE_SAME, "almost the same way"), (0.7, "alike"), (0.5, "somewhat alike"), (-0.5, "differently"))
_OPPOSITE = "in opposite ways"
_MOST_MOVES = 8
_FEW_TOPICS = 5  # on fewer, another topic may turn the order of runs


class Part(NamedTuple):
    """A piece of a sentence. is_figure: it is a number, which stands out."""

    text: str
    is_figure: bool = False


class KeyFigure(NamedTuple):
    """A figure of the summary, with what stands below it."""

    label: str
    value: str
    below: str


class Move(NamedTuple):
    """A run with its places on both sides. moved: upwards on the second side, where it is above 0."""

    run: str
    first: int
    second: int

    @property
    def moved(self) -> int:
        """How many places higher the second side has it."""
        return self.first - self.second

    @property
    def words(self) -> str:
        """The same with an arrow."""
        return f"{'↑' if self.moved > 0 else '↓'} {abs(self.moved)}"


def names_of_sides(comparison: Comparison) -> tuple[str, str]:
    """Return what sentences call both sides: people and a model by what they are, if they are of different kinds."""
    sides = [_who(comparison.first), _who(comparison.second)]
    if all(sides) and sides[0] != sides[1]:
        return sides[0], sides[1]
    return str(comparison.first), str(comparison.second)


def _who(side: Comparable) -> str:
    if not isinstance(side, Condition):
        return ""
    if side.is_peoples:
        return "people"
    return str(side.judge) if side.is_a_models and side.judge else ""


def sentences(result: Json, first: str, second: str, *, are_graded: bool) -> list[Part]:
    """Return what came of a comparison, in parts of sentences.

    first, second: what they call both sides; are_graded: whether their labels are such that one can be strict.
    """
    parts = [*_of_rankings(result, first, second), *_of_labels(result, first, second, are_graded), *_of_steps(result)]
    statistics = _statistics(result)
    run, topic = (_value(statistics, f"tau_{level}") for level in ("run", "topic"))
    if run is not None and topic is not None and not _few_topics(result):
        less = "trust the order less" if topic < run else "the order agrees as much"
        parts += [Part(f" On a single topic, {less}: "), Part(f"τ {topic:.2f}", True), Part(".")]
    parts += _of_top(result, first, second)
    if parts:
        parts[0] = parts[0]._replace(text=parts[0].text[:1].upper() + parts[0].text[1:])
    return parts


def _of_rankings(result: Json, first: str, second: str) -> list[Part]:
    statistics = _statistics(result)
    tau = _value(statistics, "tau_run")
    if tau is None:
        return [Part(f"The rankings of {first} and {second} can't be compared: τ is undefined.")] if statistics else []
    bounds = statistics["tau_run"].get("interval") or {}
    interval = f" [{bounds['low']:.2f}, {bounds['high']:.2f}]" if bounds.get("low") is not None else ""
    how = next((words for least, words in _ALIKE if round(tau, 2) >= least), _OPPOSITE)
    if few := _few_topics(result):
        words = f"Only {few}, too few to rank runs by. Between {first} and {second}: "
    else:
        words = f"{first} and {second} rank the runs {how}: "
    return [Part(words), Part(f"τ {tau:.2f}", True), Part(f"{interval}.")]


def _of_top(result: Json, first: str, second: str) -> list[Part]:
    """Say where the best runs are agreed on less, or more, than equal noise for all runs would give."""
    top = next(iter(_measures(result).values()), {}).get("top")
    if not top or _few_topics(result):
        return []
    for side, who in (("first", first), ("second", second)):
        for point in top[side][:-1]:  # the last is of all runs
            tau, low, high = point["tau"], point["low"], point["high"]
            if tau is None or low is None or low <= tau <= high:
                continue
            how = "less" if tau < low else "more"
            words = f" Among the best {point['k']} runs by {who}, the rankings agree {how} than under equal noise: "
            return [Part(words), Part(f"τ {tau:.2f}", True), Part(f", against {low:.2f} to {high:.2f}.")]
    return []


def _few_topics(result: Json) -> str:
    """Return how many topics there are, in words, where they are too few for the order of runs; else ""."""
    topics = len(result["scores"]["topics"])
    return quantity(topics, "topics") if 0 < topics < _FEW_TOPICS else ""


def _of_labels(result: Json, first: str, second: str, are_graded: bool) -> list[Part]:
    labels = result.get("labels")
    who = " They give" if _statistics(result) else f"{first} and {second} give"
    match = _value(labels or {}, "match")
    if not labels or match is None:
        return [Part(" They have no labels of the same items.")] if _statistics(result) else []
    kappa = _value(labels, "unweighted")
    parts = [Part(f"{who} the same label to "), Part(_percent(match), True), Part(f" of {labels['pairs']:,} items")]
    if kappa is not None:
        parts += [Part(", "), Part(f"κ {kappa:.2f}", True)]
    above, below = (_value(labels, name) or 0.0 for name in ("above", "below"))
    if are_graded and above + below:
        is_stricter = below >= above
        share = _percent(max(above, below) / (above + below))
        parts.append(
            Part(f"; where they differ, {second} {_be(second)} {'stricter' if is_stricter else 'more lenient'}")
        )
        parts += [Part(" "), Part(share, True), Part(" of the time")]
    return [*parts, Part(".")]


def _of_steps(result: Json) -> list[Part]:
    """Say how far both agree in each step, where there are some."""
    parts: list[Part] = []
    for step in result.get("steps", ()):
        kappa = _value(step, "unweighted")
        told = "κ undefined" if kappa is None else f"κ {kappa:.2f}"
        parts += [Part(f"{', ' if parts else ' By step: '}{step['title']} "), Part(told, kappa is not None)]
    return [*parts, Part(".")] if parts else []


def _be(side: str) -> str:
    return "are" if side == "people" else "is"


def key_figures(result: Json) -> list[KeyFigure]:
    """Return the figures of the summary that a result has, six at most."""
    statistics, labels = _statistics(result), result.get("labels") or {}
    found: list[KeyFigure] = []
    for name, label, of, nouns in (
        ("tau_run", "Rankings of runs", "{}", "runs"),
        ("tau_topic", "Within a topic", "mean of {}", "topics"),
        ("tau_cell", "Single answers", "{}", "answers"),
    ):
        if (tau := _value(statistics, name)) is not None:
            bounds = statistics[name].get("interval") or {}
            is_known = bounds.get("low") is not None
            counted = of.format(quantity(statistics[name]["n"], nouns))
            below = f"{bounds['low']:.2f} to {bounds['high']:.2f}" if is_known else counted
            found.append(KeyFigure(label, f"τ {tau:.2f}", below))
    if (match := _value(labels, "match")) is not None:
        found.append(KeyFigure("Equal labels", _percent(match), f"of {labels['pairs']:,}"))
    if (kappa := _value(labels, "unweighted")) is not None:
        found.append(KeyFigure("Beyond chance", f"κ {kappa:.2f}", "unweighted"))
    if largest := moves(result)[:1]:
        places = abs(largest[0].moved)
        found.append(KeyFigure("Largest move", f"{places} place{'' if places == 1 else 's'}", largest[0].run))
    return found


def moves(result: Json) -> list[Move]:
    """Return the runs that both sides place differently by the first measure, those that moved most first.

    A place is one more than the number of runs with a higher score, so runs that tie share theirs.
    """
    scores = result.get("scores")
    if not scores or not scores["measures"]:
        return []
    measure = next(iter(scores["measures"].values()))
    given = np.array([measure["first"], measure["second"]], dtype=np.float64)  # None is NaN
    of_runs = zip(scores["runs"], given.T.tolist(), *(places(side).tolist() for side in given), strict=True)
    found = [Move(run["run_id"], *both) for run, values, *both in of_runs if not any(map(math.isnan, values))]
    return sorted((one for one in found if one.moved), key=lambda one: (-abs(one.moved), one.run))[:_MOST_MOVES]


class Span(NamedTuple):
    """A tau with its interval on a line: places in percent, and the figures."""

    measure: str
    level: str
    value: str
    point: str
    low: str
    high: str
    mean: str
    interval: str
    words: str
    bca: str
    why: str  # there is no BCa interval


def spans(result: Json, least: float) -> list[Span]:
    """Return tau of each measure at its three levels. least: where the line begins, 0 or -1."""

    def at(value: float) -> str:
        return f"{100 * (value - least) / (1 - least):.1f}%"

    found = []
    for key, measure in _measures(result).items():
        for name, level in (
            ("tau_run", "runs"),
            ("tau_topic", "topics, mean of τ within each"),
            ("tau_cell", "answers"),
        ):
            told = measure["statistics"][name]
            if (tau := told["value"]) is None:
                continue
            bounds = told.get("interval") or {}
            is_known = bounds.get("low") is not None
            low, high, middle = (at(bounds[end]) if is_known else "" for end in ("low", "high", "mean"))
            interval = f"{bounds['low']:.2f} to {bounds['high']:.2f}" if is_known else ""
            words = f"τ {tau:.2f}, interval {interval}" if interval else f"τ {tau:.2f}"
            corrected = bounds.get("bca") or {}  # results of before have none
            bca = f"{corrected['low']:.2f} to {corrected['high']:.2f}" if corrected.get("low") is not None else ""
            words += f", BCa {bca}" if bca else ""
            found.append(
                Span(
                    *(measure_named(key).in_words, f"{told['n']:,} {level}", f"{tau:.2f}", at(tau)),
                    *(low, high, middle, interval, words, bca, corrected.get("why", "")),
                )
            )
    return found


def span_start(result: Json) -> int:
    """Return where lines of tau begin: at -1 if anything on them is below 0."""
    figures = [
        value
        for measure in _measures(result).values()
        for name in ("tau_run", "tau_topic", "tau_cell")
        for value in (
            measure["statistics"][name]["value"],
            (measure["statistics"][name].get("interval") or {}).get("low"),
        )
        if value is not None
    ]
    return -1 if min(figures, default=0.0) < 0 else 0


class Multiple(NamedTuple):
    """Runs by both sides' scores of a measure, small: a path with a dot for each run, in a square of 100 by 100."""

    title: str
    tau: str
    dots: str
    scale: str


def multiples(result: Json) -> list[Multiple]:
    """Return a small figure for each measure but length, all on the scale of their own largest score."""
    found = []
    for key, measure in _measures(result).items():
        pairs = [
            (one, other)
            for one, other in zip(measure["first"], measure["second"], strict=True)
            if one is not None and other is not None
        ]
        tau = measure["statistics"]["tau_run"]["value"]
        most = max((value for pair in pairs for value in pair), default=0.0)
        if key == LENGTH or not pairs or most <= 0:
            continue
        most = 1.0 if most <= 1 else most
        dots = "".join(f"M{100 * one / most:.1f} {100 - 100 * other / most:.1f}h0" for one, other in pairs)
        told = "τ undefined" if tau is None else f"τ {tau:.2f}"
        found.append(Multiple(measure_named(key).in_words, told, dots, f"{most:g}"))
    return found


def _measures(result: Json) -> dict[str, Json]:
    scores = result.get("scores")
    return scores["measures"] if scores else {}


def _statistics(result: Json) -> Json:
    """Return the statistics of the first measure; nothing where no scores were compared."""
    statistics: Json = next(iter(_measures(result).values()), {}).get("statistics", {})
    return statistics


def _value(figures: Json, name: str) -> float | None:
    value: float | None = (figures.get(name) or {}).get("value")
    return value


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
