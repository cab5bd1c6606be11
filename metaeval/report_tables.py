"""A result as files: tables as CSV and for a paper, and a summary for a terminal."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.report import quantity
from assessor.formats.tables import write_table
from metaeval import ceiling_tables, statistics_tables
from metaeval.measures import measure_named
from metaeval.serializers import RATES
from metaeval.stats.comparison import MeasureComparison
from metaeval.stats.score_matrix import MatchedScores

Json = dict[str, Any]
_ALL_RATES = (*RATES, "alpha_nominal", "alpha_ordinal")
SUMMARY = "summary.txt"
_NAMES = {
    "match": "equal",
    "above": "above the diagonal",
    "below": "below the diagonal",
    "unweighted": "kappa, unweighted",
    "linear": "kappa, linear",
    "quadratic": "kappa, quadratic",
    "alpha_nominal": "alpha, nominal",
    "alpha_ordinal": "alpha, ordinal",
}

_BINARY_RATES = {"match": "equal", "kappa": "kappa", "alpha": "alpha"}


def report_files(
    result: Json, scores: MatchedScores | None, comparisons: Sequence[MeasureComparison]
) -> dict[str, str]:
    """Return the files of a result, by name: of each part that it has."""
    found = statistics_tables.files(scores, comparisons) if scores else {}
    found |= {name: write(result) for name, (part, write) in _OF_PARTS.items() if result.get(part)}
    found[SUMMARY] = _summary(result, scores, comparisons)
    return {name: "".join(lines) for name, lines in found.items()}


def _scores_latex(result: Json) -> Iterator[str]:
    """Yield the score table of each input, over the runs and topics that both have (booktabs)."""
    scores = result["scores"]
    measures = [measure_named(key) for key in scores["measures"]]
    over = quantity(len(scores["topics"]), "topics") if scores["topics"] else "each side's own topics"

    def row(name: str, task: str, figures: Sequence[float | None]) -> str:
        cells = (
            "--" if value is None else f"{value:.{of.digits}f}" for value, of in zip(figures, measures, strict=True)
        )
        return latex.row((as_latex(name), as_latex(task), *cells))

    for place, key in enumerate(("first", "second")):
        given = [scores["measures"][measure.key][key] for measure in measures]
        lines = zip(scores["runs"], *given, strict=True)
        best_first = sorted(lines, key=lambda line: (line[1] is None, -(line[1] or 0.0)))
        runs = (row(run["run_id"], run["task"], figures) for run, *figures in best_first)
        spread = result["spread"][place] if result["spread"] else {}
        over_runs = [row(name.capitalize(), "", list(of.values())) for name, of in spread.items()]
        yield from latex.table(
            f"Scores under {as_latex(result['sides'][place]['name'])}, means over {over}",
            f"ll{'r' * len(measures)}",
            ("Run", "Task", *(measure.latex for measure in measures)),
            runs,
            *([over_runs] if over_runs else []),
        )


def _labels_csv(result: Json) -> Iterator[str]:
    """Yield the confusion matrix, a row for each two labels, and the rates of agreement."""
    labels = result["labels"]
    cells = [
        ("pairs", row, column, labels["matrix"][at][place], labels["percent"][at][place], "")
        for at, row in enumerate(labels["labels"])
        for place, column in enumerate(labels["labels"])
    ]
    unmatched = [
        ("unmatched", side["name"], "", count, None, "")
        for side, count in zip(result["sides"], labels["unmatched"], strict=True)
    ]
    by_rule = ("pairs by rule", "", "", labels["by_rule"], None, "")
    rates = [
        (name, "", "", labels[name]["n"], labels[name]["value"], labels[name].get("why", "")) for name in _ALL_RATES
    ]
    binary = [row for of_threshold in labels.get("thresholds", ()) for row in _threshold_rows(of_threshold)]
    rows = (*cells, *unmatched, by_rule, *rates, *binary)
    return write_table(("what", "first", "second", "count", "value", "why"), rows)


def _threshold_rows(threshold: Json) -> Iterator[tuple[object, ...]]:
    """Yield the binary confusion matrix of a threshold, and the rates of agreement."""
    least = threshold["least"]
    labels = (f"below {least}", f"{least} or more")
    for row, counts, shares in zip(labels, threshold["matrix"], threshold["percent"], strict=True):
        for column, count, share in zip(labels, counts, shares, strict=True):
            yield "binary pairs", row, column, count, share, ""
    for name in _BINARY_RATES:
        found = threshold[name]
        yield f"binary {name}, {least} or more", "", "", found["n"], found["value"], found.get("why", "")


def _labels_latex(result: Json) -> Iterator[str]:
    """Yield the confusion matrix in percent of all pairs, and binary agreement, as tables for a paper (booktabs)."""
    labels, (first, second) = result["labels"], result["sides"]
    caption = f"Labels of {as_latex(first['name'])} (rows) and {as_latex(second['name'])} (columns)"
    rows = (
        latex.row((as_latex(label), *("--" if share is None else f"{share:.1f}" for share in shares)))
        for label, shares in zip(labels["labels"], labels["percent"], strict=True)
    )
    yield from latex.table(
        f"{caption}, in \\% of {labels['pairs']} pairs; {_kappa(labels)}",
        f"l{'r' * len(labels['labels'])}",
        ("", *map(as_latex, labels["labels"])),
        rows,
    )
    if thresholds := labels.get("thresholds"):
        yield from latex.table(
            f"Binary labels of {as_latex(first['name'])} and {as_latex(second['name'])}, of {labels['pairs']} pairs",
            "lrrr",
            ("Relevant from", "Equal (\\%)", "Cohen's $\\kappa$", "Krippendorff's $\\alpha$"),
            (
                latex.row(
                    (
                        str(threshold["least"]),
                        _latex(threshold["match"], 100, 1),
                        *(_latex(threshold[name], 1, 3) for name in ("kappa", "alpha")),
                    )
                )
                for threshold in thresholds
            ),
        )


_OF_GROUPS = ("match", "unweighted", "alpha_nominal")
_GROUPS = {"steps": "step", "languages": "language"}


def _groups_csv(part: str, result: Json) -> Iterator[str]:
    """Yield the confusion matrix of each step or language, a row for each two labels, and the rates of agreement."""
    words = result["labels"]["labels"]
    cells = [
        (one["name"], "pairs", row, column, one["matrix"][at][place], one["percent"][at][place], "")
        for one in result[part]
        for at, row in enumerate(words)
        for place, column in enumerate(words)
    ]
    rates = [
        (one["name"], name, "", "", one[name]["n"], one[name]["value"], one[name].get("why", ""))
        for one in result[part]
        for name in _OF_GROUPS
    ]
    return write_table((_GROUPS[part], "what", "first", "second", "count", "value", "why"), (*cells, *rates))


def _groups_latex(part: str, result: Json) -> Iterator[str]:
    """Yield agreement by step or language as a table for a paper (booktabs), with the counts of each two labels."""
    words, (first, second) = result["labels"]["labels"], result["sides"]
    both = [latex.stacked(as_latex(row), as_latex(column)) for row in words for column in words]
    rows = (
        latex.row(
            (
                as_latex(one["title"]),
                str(one["pairs"]),
                *(str(count) for counts in one["matrix"] for count in counts),
                _latex(one["match"], 100, 1),
                *(_latex(one[name], 1, 3) for name in _OF_GROUPS[1:]),
            )
        )
        for one in result[part]
    )
    return latex.table(
        f"Agreement by {_GROUPS[part]} of {as_latex(first['name'])} (above) and {as_latex(second['name'])} (below)",
        f"l{'r' * (len(both) + 4)}",
        (_GROUPS[part].capitalize(), "Pairs", *both, "Equal (\\%)", "Cohen's $\\kappa$", "Krippendorff's $\\alpha$"),
        rows,
    )


def _latex(statistic: Json, factor: int, digits: int) -> str:
    return "--" if statistic["value"] is None else f"{factor * statistic['value']:.{digits}f}"


def _kappa(labels: Json) -> str:
    value = labels["unweighted"]["value"]
    return "Cohen's $\\kappa$ undefined" if value is None else f"Cohen's $\\kappa$ = {value:.3f}"


def _judges_csv(result: Json) -> Iterator[str]:
    """Yield how far each two of three judges agree on what all three labelled."""
    rows = (
        (of_three["third"], row["first"], row["second"], row["who"], of_three["pairs"], *map(_number, _rates(row)))
        for of_three in result["judges"]
        for row in of_three["rows"]
    )
    return write_table(("with", "first", "second", "who", "pairs", *RATES), rows)


def _rates(row: Json) -> list[Json]:
    return [row[name] for name in RATES]


def _number(statistic: Json) -> float | None:
    value: float | None = statistic["value"]
    return value


_DESCRIBED = ("topics", "nuggets", "nuggets_per_topic", "words_per_nugget", "share_vital", "labels")


def _described_rows(result: Json) -> Iterator[tuple[str, list[float | None]]]:
    """Yield each condition's name, and its columns: _DESCRIBED, then the shares of labels."""
    for one in result["described"]:
        nuggets = one["nuggets"]
        of_nuggets = [_number(nuggets[name]) for name in ("per_topic", "words", "vital")] if nuggets else [None] * 3
        shares = [share["share"] for share in one["shares"]]
        yield one["name"], [one["topics"], nuggets and nuggets["nuggets"], *of_nuggets, one["labels"], *shares]


def _described_csv(result: Json) -> Iterator[str]:
    """Yield descriptive statistics of the nuggets and labels of each condition."""
    shares = [f"share_{share['label']}" for share in result["described"][0]["shares"]]
    return write_table(("name", *_DESCRIBED, *shares), ([name, *rest] for name, rest in _described_rows(result)))


def _described_latex(result: Json) -> Iterator[str]:
    """Yield the same as a table for a paper (booktabs), shares in percent."""
    shares = [latex.stacked(as_latex(share["label"]), "(\\%)") for share in result["described"][0]["shares"]]

    def cell(place: int, value: float | None) -> str:
        if value is None:
            return "--"
        if place >= len(_DESCRIBED) or _DESCRIBED[place] == "share_vital":
            return f"{100 * value:.1f}"
        return f"{value:.2f}" if "_per_" in _DESCRIBED[place] else f"{value}"

    rows = (
        latex.row((as_latex(name), *(cell(place, value) for place, value in enumerate(rest))))
        for name, rest in _described_rows(result)
    )
    head = (
        *("Condition", "Topics", "Nuggets", latex.stacked("Nuggets", "a topic"), latex.stacked("Words", "a nugget")),
        *(latex.stacked("Vital", "(\\%)"), "Labels", *shares),
    )
    return latex.table("Nuggets and labels of each condition", f"l{'r' * (len(head) - 1)}", head, rows)


def _topics_csv(result: Json) -> Iterator[str]:
    """Yield the agreement on each topic, worst first."""
    rows = (
        (
            *(topic.get(name) for name in ("qid", "title", "tau", "pairs", "differ")),
            *(_number(topic[name]) if name in topic else None for name in ("match", "kappa")),
        )
        for topic in result["topics"]
    )
    return write_table(("topic", "title", "tau", "pairs", "differ", "match", "kappa"), rows)


def _left_out_csv(result: Json) -> Iterator[str]:
    """Yield what was left out, a row each, and why."""
    rows = ((gap["what"], gap["side"], gap["reason"], name) for gap in result["left_out"] for name in gap["names"])
    return write_table(("what", "side", "reason", "name"), rows)


def _summary(result: Json, scores: MatchedScores | None, comparisons: Sequence[MeasureComparison]) -> Iterator[str]:
    """Yield a summary of all of it, for a terminal."""
    first, second = (side["name"] for side in result["sides"])
    if scores:
        for line in statistics_tables.text_lines(scores, comparisons):
            yield f"{line}\n"
    for gap in result["left_out"]:
        yield f"left out, {gap['what']} of {gap['side']}, {gap['reason']}: {_some(gap['names'])}\n"
    if labels := result["labels"]:
        yield f"\nLabels of {first} (rows) and {second} (columns): {labels['pairs']:,} pairs, "
        yield f"unmatched {labels['unmatched'][0]:,} and {labels['unmatched'][1]:,}, by rule {labels['by_rule']:,}\n"
        wide = max(map(len, labels["labels"]))
        cell = max(wide, 16)
        yield "  ".join((" " * wide, *(label.rjust(cell) for label in labels["labels"]))) + "\n"
        for label, counts, shares in zip(labels["labels"], labels["matrix"], labels["percent"], strict=True):
            cells = [
                f"{count:,} {'' if share is None else f'{share:5.1f} %'}".rjust(cell)
                for count, share in zip(counts, shares, strict=True)
            ]
            yield "  ".join((label.ljust(wide), *cells)) + "\n"
        for name in _ALL_RATES:
            rate = labels[name]
            yield f"{_NAMES[name]}: {rate['why'] if rate['value'] is None else format(rate['value'], '.4f')}\n"
        for threshold in labels.get("thresholds", ()):
            rates = ", ".join(f"{name} {_short(threshold[key])}" for key, name in _BINARY_RATES.items())
            yield f"grade {threshold['least']} or more: {rates}\n"
    for one in (one for part in _GROUPS for one in result.get(part, ())):
        rates = ", ".join(f"{_NAMES[name]} {_short(one[name])}" for name in _OF_GROUPS)
        yield f"{one['title']}, {one['pairs']:,} pairs: {rates}\n"
    for of_three in result["judges"]:
        yield f"\nOn {of_three['pairs']:,} things that {of_three['third']} labelled too:\n"
        for row in of_three["rows"]:
            rates = ", ".join(f"{_NAMES[name]} {_short(row[name])}" for name in ("match", "unweighted", "linear"))
            yield f"  {row['first']} and {row['second']} ({row['who']}): {rates}\n"
    yield from ceiling_tables.text_lines(result, first, second)


def _short(statistic: Json) -> str:
    return "undefined" if statistic["value"] is None else f"{statistic['value']:.4f}"


def _some(names: Sequence[str], most: int = 20) -> str:
    return f"{len(names):,} ({', '.join(names[:most])}{', …' if len(names) > most else ''})"


# By name: the part of a result that a file is of, and what writes it.
_OF_PARTS: dict[str, tuple[str, Callable[[Json], Iterator[str]]]] = {
    "scores.tex": ("scores", _scores_latex),
    "labels.csv": ("labels", _labels_csv),
    "labels.tex": ("labels", _labels_latex),
    **{f"{part}.csv": (part, partial(_groups_csv, part)) for part in _GROUPS},
    **{f"{part}.tex": (part, partial(_groups_latex, part)) for part in _GROUPS},
    "judges.csv": ("judges", _judges_csv),
    "described.csv": ("described", _described_csv),
    "described.tex": ("described", _described_latex),
    "topics.csv": ("topics", _topics_csv),
    "left_out.csv": ("left_out", _left_out_csv),
    "ceiling.csv": ("ceiling", ceiling_tables.csv_lines),
    "ceiling.tex": ("ceiling", ceiling_tables.latex_lines),
}
FILES = (*statistics_tables.FILES, *_OF_PARTS, SUMMARY)
