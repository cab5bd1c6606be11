"""The noise ceiling of a result in sentences, for its page, and as tables."""

from collections.abc import Iterator
from typing import Any

from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from metaeval.headline import Part
from metaeval.measures import measure_named
from metaeval.stats.ceiling import Ceiling
from metaeval.stats.measures import Measure

Json = dict[str, Any]
_KAPPAS = ("kappa_people", "kappa_first_judge", "kappa_second_judge", "difference")
_SAME_TOPICS = ("observed", "people", "judge", "disattenuated")


def sentences(result: Json, first: str, second: str) -> list[list[Part]]:
    """Return what the noise ceiling came to in sentences, each in parts, of which the first tells most.

    first, second: what they call people and the judge.
    """
    found = result["ceiling"]
    told = [
        *(_of_kappas(one, found["margin"], first, second) for one in found["seconds"]),
        _of_annotators(found["annotators"], second),
        _of_scores(found, first, second),
    ]
    return [parts for parts in told if parts]


def _of_scores(found: Json, first: str, second: str) -> list[Part]:
    if not found["measures"]:
        return []
    measure, of = next(iter(found["measures"].items()))
    name = measure_named(measure).in_words
    if of["ceiling"]["value"] is None:
        return [Part(f"How far noise limits the correlation of scores is unknown: {of['ceiling']['why']}.")]
    parts = [
        Part(f"Over different topics, scores of runs ({name}) under {first} and {second} correlate at "),
        _figure("r", of["across"]),
        Part(", where noise allows "),
        _figure("r", of["ceiling"]),
    ]
    if of["disattenuated"]["value"] is None:
        return [*parts, Part(f" at most. Without noise, r is undefined: {of['disattenuated']['why']}.")]
    return [*parts, Part(" at most. Without noise, it would be "), _figure("r", of["disattenuated"]), Part(".")]


def _of_kappas(one: Json, margin: float, first: str, second: str) -> list[Part]:
    bounds = one["difference"]["interval"]
    judge, person = one["kappa_first_judge"], one["kappa_people"]
    if bounds["low"] is None:
        words = f"Whether {second} is within {margin:g} of a second person was not tested: {bounds['why']}."
        return [Part(words)]
    start = {
        True: f"{second} is within {margin:g} of a second person",
        False: f"{second} is not within {margin:g} of a second person",
        None: f"These labels leave open whether {second} is within {margin:g} of a second person",
    }[one["is_within"]]
    of = f" on {one['items']:,} items (difference {_signed(one['difference']['value'])}"
    interval = f" [{_signed(bounds['low'])}, {_signed(bounds['high'])}])."
    agrees = f": with {first}, it agrees at "
    return [
        Part(start + agrees),
        _figure("κ", judge),
        Part(", another person at "),
        _figure("κ", person),
        Part(of + interval),
    ]


def _of_annotators(found: Json | None, second: str) -> list[Part]:
    if found is None or found["passes"] is None:
        return []
    verb = "passes" if found["passes"] else "fails"
    words = (
        f"{second} {verb} the alternative annotator test for {found['as']} (ε {found['epsilon']:g}): it may stand for "
    )
    won = sum(one["is_won"] for one in found["annotators"])
    return [
        Part(words),
        Part(f"{won} of {found['winning_rate']['n']}", True),
        Part(" annotators; its average advantage probability is "),
        Part(f"{found['advantage']['value']:.2f}", True),
        Part("."),
    ]


def _figure(sign: str, statistic: Json) -> Part:
    return Part(f"{sign} {statistic['value']:.2f}", True)


def _signed(value: float) -> str:
    return f"{value:+.2f}"


def page_context(result: Json, first: str, second: str) -> Json:
    """Return what the card of a result's page shows; nothing for results without a noise ceiling."""
    found = result.get("ceiling")
    if not found:
        return {}
    same = found["same_topics"] or {"measures": {}}

    def by_measure(measures: Json) -> list[tuple[Measure, Json]]:
        """Return what is known by measure; nothing where nothing is, as the sentences say why."""
        is_known = any(of["observed"]["value"] is not None for of in measures.values())
        return [(measure_named(key), of) for key, of in measures.items()] if is_known else []

    return {
        "ceiling": found,
        "ceiling_sentences": sentences(result, first, second),
        "ceiling_rows": by_measure(found["measures"]),
        "same_topics_rows": by_measure(same["measures"]),
    }


def csv_lines(result: Json) -> Iterator[str]:
    """Yield all of it as CSV, a row for each statistic."""
    found = result["ceiling"]
    same = found["same_topics"]
    annotators = found["annotators"]

    def statistic(part: str, of: str, name: str, one: Json) -> tuple[object, ...]:
        bounds = one.get("interval") or {}
        why = one.get("why") or bounds.get("why", "")
        return part, of, name, one["value"], one["n"], bounds.get("low"), bounds.get("high"), why

    lines = [
        *(
            statistic("halves", key, name, of[name])
            for key, of in found["measures"].items()
            for name in Ceiling._fields
        ),
        *(
            statistic("same topics", key, name, of[name])
            for key, of in (same["measures"] if same else {}).items()
            for name in _SAME_TOPICS
            if name in of
        ),
        *(statistic("second opinion", one["name"], name, one[name]) for one in found["seconds"] for name in _KAPPAS),
    ]
    if annotators:
        lines += [statistic("annotators", "", name, annotators[name]) for name in ("winning_rate", "advantage")]
        lines += [
            ("annotators", one["place"], name, one[name], one["items"], None, None, "")
            for one in annotators["annotators"]
            for name in ("judge", "annotator", "p", "adjusted")
        ]
    return write_table(("part", "of", "statistic", "value", "n", "low", "high", "why"), lines)


def latex_lines(result: Json) -> Iterator[str]:
    """Yield correlations and kappas as tables for a paper (booktabs)."""
    found, (first, second) = result["ceiling"], result["sides"]
    names = f"{as_latex(first['name'])} and {as_latex(second['name'])}"
    if found["measures"]:
        yield from latex.table(
            f"Pearson's $r$ of runs' scores under {names}, over {found['splits']} splits of the topics into halves",
            "lrrrrrr",
            ("Measure", *(latex.stacked(*head) for head in _HEADS)),
            (
                latex.row((measure_named(key).latex, *(_latex(of[name]) for name in Ceiling._fields)))
                for key, of in found["measures"].items()
            ),
        )
    if found["seconds"]:
        yield from latex.table(
            f"Cohen's $\\kappa$ of two people and {as_latex(second['name'])}, margin {found['margin']:g}",
            "lrrrrll",
            ("Second opinion", "Items", "Two people", *(latex.stacked(*head) for head in _KAPPA_HEADS), "Within"),
            (
                latex.row(
                    (
                        as_latex(one["name"]),
                        str(one["items"]),
                        *(_latex(one[name]) for name in _KAPPAS[:3]),
                        _latex_interval(one["difference"]),
                        {True: "yes", False: "no", None: "open"}[one["is_within"]],
                    )
                )
                for one in found["seconds"]
            ),
        )


_HEADS = (
    ("All", "topics"),
    ("Across", "halves"),
    ("First,", "halves"),
    ("Second,", "halves"),
    ("Noise", "ceiling"),
    ("Without", "noise"),
)
_KAPPA_HEADS = (("First person", "and judge"), ("Second person", "and judge"), ("Difference", "(95\\,\\%)"))


def _latex(statistic: Json) -> str:
    return "--" if statistic["value"] is None else f"{statistic['value']:.3f}"


def _latex_interval(difference: Json) -> str:
    bounds = difference["interval"]
    ends = "" if bounds["low"] is None else f" [{bounds['low']:.3f}, {bounds['high']:.3f}]"
    return f"{_latex(difference)}{ends}"


def text_lines(result: Json, first: str, second: str) -> Iterator[str]:
    """Yield it as lines for a terminal."""
    if result.get("ceiling"):
        yield "\nNoise ceiling:\n"
        for parts in sentences(result, first, second):
            yield f"  {''.join(part.text for part in parts)}\n"
