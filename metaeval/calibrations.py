"""Calibration of judges: which labels it is of, what it comes to, and whether a judge's scores count as calibrated."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Max, QuerySet

from assessor.campaigns.condition_kind import ADJUDICATED, RELATED
from assessor.campaigns.models import Answer, Campaign, Condition
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.labels.label_kind import LabelKind, label_kind
from assessor.scores.loading import Labels, RunName
from assessor.scores.score_source import scored_conditions, scoring_of
from assessor.scores.tables import SEED
from metaeval.label_pairs import LabelPairs, match_labels, matrices
from metaeval.models import Calibration, CalibrationGate, CalibrationRequest
from metaeval.stats.agreement import Counts, Weights, kappa
from metaeval.stats.calibration import (
    compare_shares,
    even_values,
    expected_values,
    human_given_model,
    kappa_interval,
    mean_value,
    measure_reliability,
    model_given_human,
    reliability_curve,
)

UNCALIBRATED = "uncalibrated"
THIRDS = ("shortest third", "middle third", "longest third")
CSV, JSON = "csv", "json"
_AT_A_TIME = 2_000

Json = dict[str, Any]
_Mask = npt.NDArray[np.bool_]


class NotCalibrated(Exception):
    """A judge can't be calibrated by these labels; the text says why."""


class Stratum(NamedTuple):
    """Some of the pairs. what: by what they were divided; "" for all pairs."""

    what: str
    name: str
    holds: _Mask


def judge_identity(condition: Condition) -> Json:
    """Return what a calibration of a judge is bound to: its name, its model's, and the sha256 of each prompt."""
    judge = condition.judge
    assert judge is not None, "a model's labels have a judge"
    return {"judge": judge.name, "model": str(judge.parameters.get("model", "")), "prompts": condition.prompts}


def human_conditions(campaign: Campaign) -> list[Condition]:
    """Return the conditions by whose labels judges can be calibrated."""
    return [one for one in _ordered(campaign) if one.is_peoples and not _why_not_people(one)]


def judged_conditions(campaign: Campaign) -> list[Condition]:
    """Return the conditions whose labels are a model's and can be calibrated."""
    return [one for one in _ordered(campaign) if one.is_a_models]


def _ordered(campaign: Campaign) -> list[Condition]:
    found = scored_conditions(campaign).order_by("kind", "name")
    return [one for one in found if _is_ordered(label_kind(one.kind))]


def _is_ordered(kind: LabelKind) -> bool:
    """Say whether the labels of a kind are one ordered scale, on items of answers."""
    return kind.is_graded and kind.judges_answers and not kind.steps


def _why_not_people(condition: Condition) -> str:
    if not condition.is_peoples:
        return f"{condition} has no people's labels."
    if condition.shown_id:
        return f"{condition} was labelled with the labels of {condition.shown} in view."
    return f"{condition} decides between others' labels." if condition.method == ADJUDICATED else ""


def refusal(human: Condition, judged: Condition) -> str:
    """Say why a judge can't be calibrated by people's labels, or ""."""
    if not _is_ordered(label_kind(judged.kind)):
        return f"The labels of {judged} are not one ordered scale."
    if why := _why_not_people(human):
        return why
    if not judged.is_a_models:
        return f"{judged} has no model's labels."
    is_same = all(getattr(human, name) == getattr(judged, name) for name in ("kind", "nuggets_id", "of_passages"))
    return "" if is_same else f"{human} and {judged} do not label the same things."


def calibrate_labels(human: Condition, judged: Condition) -> Json:
    """Return what a calibration of a judge by people's labels comes to. Raises NotCalibrated.

    Labels count that both gave unaided: none by rule, from another judge, beside a model's label, or taken over from an
    equal item. Control runs and circular ones are left out, as in comparisons.
    """
    words = label_kind(judged.kind).labels
    (people, _, left_out), (model, runs, _) = _own_labels(human), _own_labels(judged)
    pairs = match_labels(people, model)
    if not len(pairs.first):
        raise NotCalibrated(f"{human} and {judged} have labelled nothing in common that counts.")
    topics, at = np.unique(pairs.topic, return_inverse=True)
    threshold = -(-len(words) // 2)
    counts = matrices(at, len(topics), pairs.first, pairs.second, len(words))
    reliability = measure_reliability(counts, threshold, seed=SEED)
    return {
        "labels": list(words),
        "left_out": left_out,
        "unmatched": list(pairs.unmatched),
        "matrix": counts.sum(axis=0).tolist(),
        "strata": [
            {"what": one.what, "name": one.name, **_figures(at[one.holds], _of(pairs, one.holds), len(words))}
            for one in _strata(judged, pairs, runs)
        ],
        "model_given_human": _rows(model_given_human(counts)),
        "threshold": threshold,
        "curve": [{**step._asdict(), "yes": step.yes._asdict()} for step in reliability_curve(counts, threshold)],
        "reliability": reliability._asdict(),
        "transfer": _transfer(model, pairs, len(words)),
    }


def _own_labels(condition: Condition) -> tuple[Labels, Sequence[RunName], Json]:
    """Return the labels of a condition that count, its runs, and how many labels don't count, by the reason."""
    found, labels = scoring_of(condition.kind).load_with_labels(condition)
    runs = [run.pk for run in found.runs if run.is_independent]
    is_run = np.isin(labels.run, np.asarray(runs, dtype=np.int64))
    aided = label_kind(condition.kind).aided_labels(condition)
    things = zip(labels.owner.tolist(), labels.item.tolist(), strict=True)
    is_aided = np.fromiter((thing in aided for thing in things), dtype=bool, count=len(labels.code))
    is_aided &= ~labels.by_rule
    left_out = {
        "of control and circular runs": int((~is_run).sum()),
        "by rule": int((is_run & labels.by_rule).sum()),
        "not given unaided": int((is_run & is_aided).sum()),
    }
    columns: Iterable[Any] = (column[is_run & ~labels.by_rule & ~is_aided] for column in labels)
    return Labels(*columns), found.runs, left_out


def _of(pairs: LabelPairs, holds: _Mask) -> tuple[Any, Any]:
    return pairs.first[holds], pairs.second[holds]


def _figures(topic: npt.NDArray[Any], codes: tuple[Any, Any], size: int) -> Json:
    """Return the figures of some pairs. topic: of each, a number."""
    topics, at = np.unique(topic, return_inverse=True)
    counts = matrices(at, len(topics), *codes, size)
    values = even_values(size)
    expected = [one._asdict() for one in expected_values(counts, values)]
    shares = _rows(human_given_model(counts))
    return {
        "n": int(counts.sum()),
        "topics": len(topics),
        "kappa": _kappa(counts, Weights.QUADRATIC),
        "unweighted": _kappa(counts, Weights.UNWEIGHTED),
        "human_mean": mean_value(counts, values)._asdict(),
        "model_mean": mean_value(counts.transpose(0, 2, 1), values)._asdict(),
        "rows": [{"expected": value, "human": human} for value, human in zip(expected, shares, strict=True)],
    }


def _kappa(counts: Counts, weights: Weights) -> Json:
    value = kappa(counts.sum(axis=0), weights)
    interval = kappa_interval(counts, weights, seed=SEED)
    return {"value": value.value, "low": interval.low, "high": interval.high, "why": value.why or interval.why}


def _rows(estimates: Sequence[Sequence[Any]]) -> list[list[Json]]:
    return [[one._asdict() for one in row] for row in estimates]


def _transfer(model: Labels, pairs: LabelPairs, size: int) -> Json:
    """Return whether the judge's labels of what people did not label have the same shares as those that they did."""
    topics, at = np.unique(model.topic, return_inverse=True)
    everything = np.bincount(at * size + model.code, minlength=len(topics) * size).reshape(len(topics), size)
    labelled = np.bincount(np.searchsorted(topics, pairs.topic) * size + pairs.second, minlength=len(topics) * size)
    labelled = labelled.reshape(len(topics), size)
    found = compare_shares(labelled, everything - labelled, seed=SEED)
    rest = int((everything - labelled).sum())
    return {"rest": rest, **found._asdict(), "shares": [one._asdict() for one in found.shares]}


def _strata(judged: Condition, pairs: LabelPairs, runs: Sequence[RunName]) -> Iterator[Stratum]:
    """Yield all pairs, then those of each stratum that is known and has some."""
    yield Stratum("", "all labels", np.ones(len(pairs.first), dtype=bool))
    divided = [("importance", _importances(judged, pairs)), ("length of the answer", _lengths(pairs))]
    related = [run.pk for run in runs if run.mark == RELATED]
    if related:
        named = np.where(np.isin(pairs.run, related), "related to the judge", "not related")
        divided.append(("family of the run", named))
    for what, names in divided:
        order = THIRDS if what.startswith("length") else sorted(set(names.tolist()) - {""}, reverse=True)
        for name in order:
            if (holds := names == name).any():
                yield Stratum(what, name, holds)


def _importances(judged: Condition, pairs: LabelPairs) -> npt.NDArray[Any]:
    """Return the importance of the nugget of each pair, "" where there is none."""
    kind = label_kind(judged.kind)
    known: dict[int, str] = {}
    if kind.labels_nuggets:
        known = {one["id"]: one["importance"] for edition in kind.scored_editions(judged) for one in edition.nuggets}
    items, at = np.unique(pairs.item, return_inverse=True)
    return np.array([known.get(item, "") for item in items.tolist()], dtype=object)[at]


def _lengths(pairs: LabelPairs) -> npt.NDArray[Any]:
    """Return of each pair in which third its answer is among the answers, by words."""
    owners, at = np.unique(pairs.owner, return_inverse=True)
    words: dict[int, int] = {}
    keys = owners.tolist()
    for start in range(0, len(keys), _AT_A_TIME):
        some = Answer.objects.filter(pk__in=keys[start : start + _AT_A_TIME]).order_by()
        words |= dict(some.values_list("pk", "words"))
    lengths = np.array([words[key] for key in keys])
    # Answers of the same length are in the same third: that of their middle place.
    in_order = np.sort(lengths)
    middle = (np.searchsorted(in_order, lengths, "left") + np.searchsorted(in_order, lengths, "right")) / 2
    third = np.minimum((3 * middle / len(lengths)).astype(int), 2)
    names: npt.NDArray[Any] = np.array(THIRDS, dtype=object)[third][at]
    return names


# Whether scores count as calibrated


def gate_of(campaign: Campaign) -> CalibrationGate | None:
    """Return the gate that a campaign set, or None."""
    newest = CalibrationGate.objects.filter(campaign=campaign).first()
    return newest if newest and newest.least_kappa is not None else None


def passes(calibration: Calibration, gate: CalibrationGate) -> bool:
    """Say whether a calibration reaches what a gate asks for."""
    assert gate.least_kappa is not None
    low = calibration.kappa["low"]
    is_sure = low is not None and low >= gate.least_kappa
    return is_sure and calibration.labels >= gate.least_labels and calibration.topics >= gate.least_topics


def uncalibrated(campaign: Campaign, conditions: Iterable[Condition]) -> set[int]:
    """Return the keys of those conditions of a model whose newest calibration doesn't pass the campaign's gate.

    One counts for a condition with the same judge, model and prompts, on the same nuggets. None where there is no gate.
    """
    judged = [one for one in conditions if one.is_a_models and _is_ordered(label_kind(one.kind))]
    gate = gate_of(campaign) if judged else None
    if gate is None:
        return set()
    made = list(calibrations_of(campaign))
    return {one.pk for one in judged if not (newest := newest_of(made, one)) or not passes(newest, gate)}


def newest_of(calibrations: Iterable[Calibration], condition: Condition) -> Calibration | None:
    """Return the first of calibrations, the newest first, that counts for a condition."""
    of = judge_identity(condition)
    fields = ("kind", "nuggets_id", "of_passages")
    return next(
        (
            one
            for one in calibrations
            if one.identity == of and all(getattr(one.judged, name) == getattr(condition, name) for name in fields)
        ),
        None,
    )


def calibrations_of(campaign: Campaign) -> QuerySet[Calibration]:
    """Return a campaign's calibrations, the newest first, without their figures."""
    related = ("campaign", "created_by", "human", "judged", *(f"judged__{name}" for name in Condition.TOLD_WITH))
    return Calibration.objects.filter(campaign=campaign).select_related(*related).defer("result")


def open_requests(campaign: Campaign) -> list[CalibrationRequest]:
    """Return what was asked for last of each two conditions and is not made: it waits, runs or came to nothing."""
    related = ("human", "judged", *(f"judged__{name}" for name in Condition.TOLD_WITH))
    newest = campaign.calibration_requests.order_by().values("human", "judged").annotate(last=Max("pk")).values("last")
    found = campaign.calibration_requests.filter(pk__in=newest, calibration=None)
    return list(found.select_related(*related))


def condition_mark(condition: Condition) -> str:
    """Return what tables say beside the name of a condition whose scores are not calibrated, or ""."""
    return UNCALIBRATED if uncalibrated(condition.campaign, [condition]) else ""


# What pages and files show


def headline(calibration: Calibration) -> str:
    """Return in a sentence what a calibration found."""
    result, judge = calibration.result, calibration.identity["judge"]
    all_labels, words = result["strata"][0], result["labels"]
    top = max(at for at, row in enumerate(all_labels["rows"]) if row["expected"]["n"])
    share = all_labels["rows"][top]["human"][top]
    apart = all_labels["model_mean"]["value"] - all_labels["human_mean"]["value"]
    if abs(apart) < 0.0005:
        bias = "on average its labels are as high as theirs"
    else:
        bias = (
            f"on average its labels are {abs(apart):.3f} too {'high' if apart > 0 else 'low'}, on a scale from 0 to 1"
        )
    return (
        f"Where {judge} says {words[top]}, people say {words[top]} in {100 * share['value']:.1f} % of cases"
        f"{_interval(share, 100)}, and {bias}; quadratic κ is {_figure(all_labels['kappa'])} over "
        f"{all_labels['n']:,} labels on {all_labels['topics']:,} topic{'s' * (all_labels['topics'] != 1)}."
    )


def _figure(statistic: Json) -> str:
    if statistic["value"] is None:
        return f"undefined ({statistic['why']})"
    return f"{statistic['value']:.3f}{_interval(statistic)}"


def _interval(statistic: Json, times: int = 1) -> str:
    if statistic["low"] is None:
        return ""
    low, high = statistic["low"] * times, statistic["high"] * times
    return f" ({low:.1f} to {high:.1f} %)" if times == 100 else f" ({low:.3f} to {high:.3f})"


def at_least(result: Json) -> str:
    """Return which labels of people count as yes in reliability."""
    word: str = result["labels"][result["threshold"]]
    return word if result["threshold"] == len(result["labels"]) - 1 else f"{word} or more"


def file_lines(calibration: Calibration, form: str) -> Iterator[str]:
    """Return the lines of a file of a calibration, CSV or JSON."""
    return (
        iter([to_json(told_of(calibration)) + "\n"]) if form == JSON else write_table(_HEADER, _file_rows(calibration))
    )


def told_of(calibration: Calibration) -> Json:
    """Return all that is known of a calibration."""
    return {
        "name": calibration.name,
        "human": calibration.human.name,
        "judged": calibration.judged.name,
        "kind": calibration.kind,
        **calibration.identity,
        "made_at": calibration.created_at.isoformat(),
        **calibration.result,
    }


_HEADER = ("by", "stratum", "given", "label", "outcome", "value", "low", "high", "n", "effective_n", "why")


def _file_rows(calibration: Calibration) -> Iterator[Sequence[object]]:
    result = calibration.result
    words = result["labels"]
    for stratum in result["strata"]:
        names = (stratum["what"], stratum["name"])
        for word, row in zip(words, stratum["rows"], strict=True):
            for outcome, share in zip(words, row["human"], strict=True):
                yield *names, "model", word, f"human {outcome}", *_cells(share)
            yield *names, "model", word, "expected human value", *_cells(row["expected"])
        yield *names, "", "", "mean of people", *_cells(stratum["human_mean"])
        yield *names, "", "", "mean of the model", *_cells(stratum["model_mean"])
        for name, title in (("kappa", "kappa, quadratic"), ("unweighted", "kappa")):
            yield *names, "", "", title, *_cells(stratum[name] | {"n": stratum["n"], "effective": None})
    for word, row in zip(words, result["model_given_human"], strict=True):
        for outcome, share in zip(words, row, strict=True):
            yield "", "all labels", "human", word, f"model {outcome}", *_cells(share)
    for step in result["curve"]:
        least = f"human {at_least(result)}"
        yield "", "all labels", "model", words[step["label"]], least, *_cells(step["yes"])
        yield "", "all labels", "model", words[step["label"]], f"{least}, isotonic", step["fitted"], *[""] * 5


def _cells(estimate: Json) -> tuple[object, ...]:
    return tuple(estimate[name] for name in ("value", "low", "high", "n", "effective", "why"))
