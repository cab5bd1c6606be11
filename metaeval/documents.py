"""A result as files: tables for people, for papers, for a terminal."""

from collections.abc import Iterator, Sequence
from typing import Any

from assessor.collection.formats.latex import as_latex
from assessor.collection.formats.tables import write_table
from metaeval import tables
from metaeval.comparing import Compared
from metaeval.scored import Pair
from metaeval.told import RATES

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


def documents(result: Json, pair: Pair | None, compared: Sequence[Compared]) -> dict[str, str]:
    """Return all files of a result, by name; what it has not has none."""
    found: dict[str, Iterator[str]] = {}
    if pair:
        found |= tables.files(pair, compared)
    if result["labels"]:
        found["labels.csv"] = _labels_csv(result)
        found["labels.tex"] = _labels_latex(result)
    if result["judges"]:
        found["judges.csv"] = _judges_csv(result)
    if result["topics"]:
        found["topics.csv"] = _topics_csv(result)
    if result["left_out"]:
        rows = ((gap["what"], gap["side"], gap["reason"], name) for gap in result["left_out"] for name in gap["names"])
        found["left_out.csv"] = write_table(("what", "side", "reason", "name"), rows)
    found[SUMMARY] = _summary(result, pair, compared)
    return {name: "".join(lines) for name, lines in found.items()}


def _labels_csv(result: Json) -> Iterator[str]:
    """Yield the confusion matrix, a row each for two labels, and what it tells of agreement."""
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
    rates = [
        (name, "", "", labels[name]["n"], labels[name]["value"], labels[name].get("why", "")) for name in _ALL_RATES
    ]
    return write_table(("what", "first", "second", "count", "value", "why"), (*cells, *unmatched, *rates))


def _labels_latex(result: Json) -> Iterator[str]:
    """Yield the confusion matrix in percent of all pairs as a table for a paper (booktabs)."""
    labels, (first, second) = result["labels"], result["sides"]
    yield "\\begin{table}\n"
    told = f"Labels of {as_latex(first['name'])} (rows) and {as_latex(second['name'])} (columns)"
    yield f"\\caption{{{told}, in \\% of {labels['pairs']} pairs; {_kappa(labels)}.}}\n"
    yield f"\\begin{{tabular}}{{l{'r' * len(labels['labels'])}}}\n\\toprule\n"
    yield " & ".join(("", *map(as_latex, labels["labels"]))) + " \\\\\n\\midrule\n"
    for label, shares in zip(labels["labels"], labels["percent"], strict=True):
        cells = ("--" if share is None else f"{share:.1f}" for share in shares)
        yield f"{{}}{as_latex(label)} & {' & '.join(cells)} \\\\\n"
    yield "\\bottomrule\n\\end{tabular}\n\\end{table}\n"


def _kappa(labels: Json) -> str:
    value = labels["unweighted"]["value"]
    return "Cohen's $\\kappa$ undefined" if value is None else f"Cohen's $\\kappa$ = {value:.3f}"


def _judges_csv(result: Json) -> Iterator[str]:
    """Yield how far each two of three judges agree on what all three labelled."""
    rows = (
        (of_three["third"], row["first"], row["second"], row["who"], of_three["pairs"], *map(_figure, _rates(row)))
        for of_three in result["judges"]
        for row in of_three["rows"]
    )
    return write_table(("with", "first", "second", "who", "pairs", *RATES), rows)


def _rates(row: Json) -> list[Json]:
    return [row[name] for name in RATES]


def _figure(told: Json) -> float | None:
    value: float | None = told["value"]
    return value


def _topics_csv(result: Json) -> Iterator[str]:
    """Yield the agreement on each topic, worst first."""
    rows = (
        (
            *(topic.get(name) for name in ("qid", "title", "tau", "pairs", "differ")),
            *(_figure(topic[name]) if name in topic else None for name in ("match", "kappa")),
        )
        for topic in result["topics"]
    )
    return write_table(("topic", "title", "tau", "pairs", "differ", "match", "kappa"), rows)


def _summary(result: Json, pair: Pair | None, compared: Sequence[Compared]) -> Iterator[str]:
    """Yield all of it in short, to be read in a terminal."""
    first, second = (side["name"] for side in result["sides"])
    if pair:
        for line in tables.text_lines(pair, compared):
            yield f"{line}\n"
    for gap in result["left_out"]:
        yield f"left out, {gap['what']} of {gap['side']}, {gap['reason']}: {_some(gap['names'])}\n"
    if labels := result["labels"]:
        yield f"\nLabels of {first} (rows) and {second} (columns): {labels['pairs']:,} pairs, "
        yield f"unmatched {labels['unmatched'][0]:,} and {labels['unmatched'][1]:,}\n"
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
            told = labels[name]
            yield f"{_NAMES[name]}: {told['why'] if told['value'] is None else format(told['value'], '.4f')}\n"
    for of_three in result["judges"]:
        yield f"\nOn {of_three['pairs']:,} things that {of_three['third']} labelled too:\n"
        for row in of_three["rows"]:
            told = ", ".join(f"{_NAMES[name]} {_short(row[name])}" for name in ("match", "unweighted", "linear"))
            yield f"  {row['first']} and {row['second']} ({row['who']}): {told}\n"


def _short(told: Json) -> str:
    return "undefined" if told["value"] is None else f"{told['value']:.4f}"


def _some(names: Sequence[str], most: int = 20) -> str:
    return f"{len(names):,} ({', '.join(names[:most])}{', …' if len(names) > most else ''})"
