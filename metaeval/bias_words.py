"""What a judge favours in a sentence: every word follows from a number of the table."""

from collections.abc import Iterator
from math import isnan

from assessor.formats.families import FAMILIES
from assessor.formats.report import quantity
from metaeval.biases import LEAST_RUNS, Bias
from metaeval.headline import Part
from metaeval.measures import measure_named
from metaeval.stats.bias import PermutationTest
from metaeval.stats.significance import ALPHA

_WHOLE_SCALE = 1.0  # the largest effect there can be


def sentence(found: Bias) -> list[Part]:
    """Say in parts of sentences whether the judge favours runs of the family, and what could have been found."""
    if not found.is_known:
        return [Part(_too_few(found))]
    if found.interaction:
        return list(_of_judges(found, found.interaction.test))
    return list(_of_family(found))


def _too_few(found: Bias) -> str:
    if not found.own + found.others:
        return (
            "Nobody said which models wrote the runs, so no preference can be tested: import a list of runs with the "
            "column “generator”."
        )
    return (
        f"{quantity(found.own, 'runs')} by {FAMILIES[found.family]} and {quantity(found.others, 'runs')} by others "
        f"are known: it takes {LEAST_RUNS} of each to test a preference."
    )


def _of_family(found: Bias) -> Iterator[Part]:
    defined = [one for one in found.effects if not isnan(one.p)]
    whose = f"runs by {FAMILIES[found.family]}"
    if not defined:
        yield Part(f"Whether {found.judge} favours {whose} can't be told from these runs and scores.")
        return
    first, last = defined[0], defined[-1]
    by, scores = f"in {measure_named(found.measure).in_words}", f"the scores of {found.reference}"
    shown = [one.p < ALPHA for one in (first, last)]
    if all(shown) and first.effect * last.effect > 0:
        how = "more" if last.effect > 0 else "less"
        yield Part(f"{found.judge} gives {whose} {how} than expected from {scores}, {by}: ")
    elif any(shown):
        yield Part(f"Whether {found.judge} favours {whose} {by} depends on how exact {scores} are: ")
    else:
        yield Part(f"No preference of {found.judge} for {whose} is shown {by}: ")
    yield Part(_signed(first.effect), True)
    yield Part(f" ({_p(first.p)})")
    if last is not first:
        yield Part(f" if {scores} are exact, ")
        yield Part(_signed(last.effect), True)
        yield Part(f" ({_p(last.p)}) if their error is allowed for")
    yield Part(".")
    least, runs = max(one.least for one in defined), f"{found.own} and {found.others} runs"
    if least < _WHOLE_SCALE:
        yield Part(f" With these {runs}, only an effect of ")
        yield Part(f"{least:.3f}", True)
        yield Part(" or more would be found in four of five cases.")
    else:
        yield Part(f" These {runs} are too few to find an effect of any size.")
    plain = found.difference
    if plain and plain.p < ALPHA and not any(shown):
        difference = f"{_signed(plain.value)} ({_p(plain.p)})"
        yield Part(f" The plain difference of {difference} may come from how good these runs are: the judge's scores ")
        yield Part(f"rise by {first.slope:.2f} where those of {found.reference} rise by 1.")


def _of_judges(found: Bias, test: PermutationTest) -> Iterator[Part]:
    if not found.interaction or not found.interaction.families:
        yield Part("These judges can't be tested against each other: neither has a family of its own among the runs.")
        return
    if isnan(test.p):
        yield Part(
            "These judges can't be tested against each other: with these runs and scores, nothing can change places."
        )
        return
    names = " and ".join(FAMILIES[one.family] for one in found.interaction.families)
    judges = f"{found.judge} and {found.reference}"
    if test.p < ALPHA:
        how = "more" if test.value > 0 else "less"
        yield Part(f"Against each other, {judges} give runs of their own family ({names}) {how}: ")
    else:
        yield Part(f"Against each other, {judges} show no preference for runs of their own family ({names}): ")
    yield Part(_signed(test.value), True)
    yield Part(f" ({_p(test.p)}), of which ")
    yield Part(f"{test.least:.3f}", True)
    yield Part(" or more would be found in four of five cases. No people are in this, so quality is not told from it.")


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"
