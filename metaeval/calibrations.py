"""Calibration of judges: which labels it is of, what it comes to, and whether a judge's scores count as calibrated."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Max, QuerySet
from django.db.models.functions import Length

from assessor.campaigns.condition_kind import ADJUDICATED, RELATED, kind_of
from assessor.campaigns.models import Answer, Campaign, Condition, QrelsSource
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.labels.label_kind import LabelKind, label_kind, label_kinds
from assessor.scores.loading import Labels, RunName
from assessor.scores.score_source import scoring_of
from assessor.scores.tables import SEED
from metaeval.inputs import GRADES, load_grades
from metaeval.label_pairs import LabelPairs, match_labels, matrices, some_labels, told_of_items
from metaeval.models import Calibration, CalibrationGate, CalibrationRequest, HumanSide
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
# What names both sides of a calibration, and tells of the judge's.
_RELATED = ("campaign", "human", "human_source", "judged", *(f"judged__{name}" for name in Condition.TOLD_WITH))

Json = dict[str, Any]
_Mask = npt.NDArray[np.bool_]


class NotCalibrated(Exception):
    """A judge can't be calibrated by these labels; the text says why."""


class SideLabels(NamedTuple):
    """The labels of a side that count.

    words: what can be said, in ascending order; left_out: how many labels don't count, by the reason.
    """

    labels: Labels
    words: Sequence[str]
    runs: Sequence[RunName]
    left_out: Json


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


def human_sides(campaign: Campaign) -> list[HumanSide]:
    """Return by whose labels judges can be calibrated: conditions, then sources of grades, imported or made here."""
    conditions = [one for one in _graded(campaign) if not kind_of(one).makes_grades]  # their sources stand for these
    related = [f"condition__{name}" for name in ("judge", "shown", "qrels_source")]
    sides: list[HumanSide] = [*conditions, *campaign.qrels_sources.select_related(*related).order_by("name")]
    return [one for one in sides if not _why_not_people(one)]


def judged_conditions(campaign: Campaign) -> list[Condition]:
    """Return the conditions whose labels are a model's and can be calibrated."""
    return [one for one in _graded(campaign) if one.is_a_models and not one.is_panel]


def labelled_conditions(campaign: Campaign) -> QuerySet[Condition]:
    """Return all conditions of a campaign under which something is labelled; a study's sample is none."""
    found = campaign.conditions.filter(kind__in=[kind.name for kind in label_kinds()], sample="")
    return found.select_related(*Condition.TOLD_WITH, "protocol").order_by("kind", "name")


def _graded(campaign: Campaign) -> list[Condition]:
    return [one for one in labelled_conditions(campaign) if label_kind(one.kind).is_graded]


def _why_not_people(side: HumanSide) -> str:
    condition = side if isinstance(side, Condition) else side.condition
    is_peoples = side.is_peoples if isinstance(side, Condition) else side.by == QrelsSource.By.PEOPLE
    if not is_peoples:
        return f"{side} has no people's labels."
    if condition is None:
        return ""
    if shown := condition.shown or condition.qrels_source:
        return f"{condition} was labelled with the labels of {shown} in view."
    return f"{condition} decides between others' labels." if condition.method == ADJUDICATED else ""


def refusal(human: HumanSide, judged: Condition) -> str:
    """Say why a judge can't be calibrated by people's labels, or ""."""
    if not label_kind(judged.kind).is_graded:
        return f"The labels of {judged} are not one ordered scale."
    if why := _why_not_people(human):
        return why
    if judged.is_panel:
        return f"{judged} is a panel: its members are calibrated."
    if not judged.is_a_models:
        return f"{judged} has no model's labels."
    return "" if _things(human) == _things(judged) else f"{human} and {judged} do not label the same things."


def _things(side: HumanSide) -> object:
    """Return what names that which is labelled: passages alike for all who grade them."""
    if isinstance(side, QrelsSource) or kind_of(side).makes_grades:
        return GRADES
    return side.kind, side.nuggets_id, side.of_passages


def calibrate_labels(human: HumanSide, judged: Condition) -> Json:
    """Return what a calibration of a judge by people's labels comes to. Raises NotCalibrated.

    Labels count that both gave unaided: none by rule, from another judge, beside a model's label, or taken over from an
    equal item. Control runs and circular ones are left out, as in comparisons. Where things are judged in steps, each
    is calibrated by itself: uncompared are those in which one side labelled nothing that the other did.
    """
    kind, people, model = label_kind(judged.kind), _own_labels(human), _own_labels(judged)
    if people.words != model.words:
        scales = [f"{one} (0 to {side.words[-1]})" for one, side in ((human, people), (judged, model))]
        raise NotCalibrated(f"{' and '.join(scales)} are on two scales.")
    steps, uncompared = [], []
    for name, title in (kind.steps or {"": ""}).items():
        of_step = [_of_step(kind, side.labels, name) for side in (people, model)]
        pairs = match_labels(*of_step)
        if len(pairs.first):
            steps.append({"name": name, "title": title, **_step(judged, model, of_step[1], pairs)})
        elif any(len(labels.code) for labels in of_step):
            uncompared.append(title)
    if not steps:
        raise NotCalibrated(f"{human} and {judged} have labelled nothing in common that counts.")
    return {
        "labels": list(model.words),
        "threshold": _threshold(model.words),
        "left_out": people.left_out,
        "steps": steps,
        "uncompared": uncompared,
    }


def _threshold(words: Sequence[str]) -> int:
    """Return the least label that counts as yes: the first of the upper half."""
    return -(-len(words) // 2)


def _of_step(kind: LabelKind, labels: Labels, step: str) -> Labels:
    return some_labels(labels, told_of_items(labels.item, kind.step_of) == step) if kind.steps else labels


def _step(judged: Condition, model: SideLabels, labels: Labels, pairs: LabelPairs) -> Json:
    """Return the figures of a step, or of all pairs. labels: the judge's of that step."""
    topics, at = np.unique(pairs.topic, return_inverse=True)
    size, threshold = len(model.words), _threshold(model.words)
    counts = matrices(at, len(topics), pairs.first, pairs.second, size)
    return {
        "unmatched": list(pairs.unmatched),
        "matrix": counts.sum(axis=0).tolist(),
        "strata": [
            {"what": one.what, "name": one.name, **_figures(at[one.holds], _of(pairs, one.holds), size)}
            for one in _strata(judged, pairs, model.runs)
        ],
        "model_given_human": _rows(model_given_human(counts)),
        "curve": [{**step._asdict(), "yes": step.yes._asdict()} for step in reliability_curve(counts, threshold)],
        "reliability": measure_reliability(counts, threshold, seed=SEED)._asdict(),
        "transfer": _transfer(labels, pairs, size),
    }


def least_of(result: Json) -> Json:
    """Return labels, topics and kappa of what a calibration comes to; of steps the fewest, and the least sure kappa."""
    if result["uncompared"]:
        why = f"both labelled nothing in common of: {', '.join(result['uncompared'])}"
        return {"labels": 0, "topics": 0, "kappa": {"value": None, "low": None, "high": None, "why": why}}
    found = [step["strata"][0] for step in result["steps"]]
    kappas = [one["kappa"] for one in found]
    return {
        "labels": min(one["n"] for one in found),
        "topics": min(one["topics"] for one in found),
        "kappa": min(kappas, key=lambda one: -math.inf if one["low"] is None else one["low"]),
    }


def source_of(side: HumanSide) -> QrelsSource | None:
    """Return the grades that a side is read from; None of one with other labels."""
    if isinstance(side, QrelsSource):
        return side
    return side.grades_made if kind_of(side).makes_grades else None


def _own_labels(side: HumanSide) -> SideLabels:
    """Return the labels of a side that count."""
    if source := source_of(side):
        return _own_grades(source)
    assert isinstance(side, Condition), "there are conditions and grades"
    found, labels = scoring_of(side.kind).load_with_labels(side)
    runs = [run.pk for run in found.runs if run.is_independent]
    is_run = np.isin(labels.run, np.asarray(runs, dtype=np.int64))
    is_aided = _is_aided(side, labels) & ~labels.by_rule
    left_out = {
        "of control and circular runs": int((~is_run).sum()),
        "by rule": int((is_run & labels.by_rule).sum()),
        "not given unaided": int((is_run & is_aided).sum()),
    }
    own = some_labels(labels, is_run & ~labels.by_rule & ~is_aided)
    return SideLabels(own, label_kind(side.kind).labels, found.runs, left_out)


def _own_grades(source: QrelsSource) -> SideLabels:
    labels, words = load_grades(source)
    is_aided = _is_aided(source.condition, labels)
    return SideLabels(some_labels(labels, ~is_aided), words, [], {"not given unaided": int(is_aided.sum())})


def _is_aided(condition: Condition | None, labels: Labels) -> _Mask:
    """Return which labels their own judge did not give unaided; nobody knows of grades from a file."""
    aided = label_kind(condition.kind).aided_labels(condition) if condition else ()
    things = zip(labels.owner.tolist(), labels.item.tolist(), strict=True)
    return np.fromiter((thing in aided for thing in things), dtype=bool, count=len(labels.code))


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
    divided = [("importance", _importances(judged, pairs)), _lengths(judged, pairs)]
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
    return told_of_items(pairs.item, lambda item: known.get(item, ""))


def _lengths(judged: Condition, pairs: LabelPairs) -> tuple[str, npt.NDArray[Any]]:
    """Return what has a length, and of each pair in which third its own is: an answer's by words, or a passage's.

    "" where the text of a passage is not loaded.
    """
    is_grades = kind_of(judged).makes_grades
    texts = pairs.item if is_grades else pairs.owner
    keys = np.unique(texts).tolist()
    lengths: dict[Any, int] = {}
    for start in range(0, len(keys), _AT_A_TIME):
        some = keys[start : start + _AT_A_TIME]
        if is_grades:
            found = judged.campaign.segments.filter(docid__in=some).values_list("docid", Length("text"))
        else:
            found = Answer.objects.filter(pk__in=some).values_list("pk", "words")
        lengths |= dict(found.order_by())
    # Texts of the same length are in the same third: that of their middle place.
    in_order = np.sort(list(lengths.values()))

    def third_of(text: Any) -> str:
        if text not in lengths:
            return ""
        middle = sum(np.searchsorted(in_order, lengths[text], side) for side in ("left", "right")) / 2
        return THIRDS[min(int(3 * middle / len(in_order)), 2)]

    return f"length of the {'passage' if is_grades else 'answer'}", told_of_items(texts, third_of)


# Whether scores count as calibrated


def gate_of(campaign: Campaign) -> CalibrationGate | None:
    """Return the gate that a campaign set, or None."""
    newest = CalibrationGate.objects.filter(campaign=campaign).first()
    return newest if newest and newest.least_kappa is not None else None


def passes(calibration: Calibration, gate: CalibrationGate) -> bool:
    """Say whether a calibration, in all of its steps, reaches what a gate asks for."""
    return reaches(gate, calibration.labels, calibration.topics, calibration.kappa)


def reaches(gate: CalibrationGate, labels: int, topics: int, kappa: Json) -> bool:
    """Say whether so many labels on so many topics, with this kappa, reach what a gate asks for."""
    assert gate.least_kappa is not None
    low = kappa["low"]
    is_sure = low is not None and low >= gate.least_kappa
    return is_sure and labels >= gate.least_labels and topics >= gate.least_topics


def uncalibrated(campaign: Campaign, conditions: Iterable[Condition]) -> set[int]:
    """Return the keys of those conditions of a model whose newest calibration doesn't pass the campaign's gate.

    One counts for a condition with the same judge, model and prompts, on the same nuggets; for a panel, one of each of
    its members. None where there is no gate.
    """
    of_models = [one for one in conditions if one.is_a_models and label_kind(one.kind).is_graded]
    members = Condition.members_of(of_models)
    judged = [*(one for one in of_models if not one.is_panel), *(one for some in members.values() for one in some)]
    gate = gate_of(campaign) if judged else None
    if gate is None:
        return set()
    made = list(calibrations_of(campaign))
    found = {one.pk for one in judged if not (newest := newest_of(made, one)) or not passes(newest, gate)}
    found |= {pk for pk, some in members.items() if any(one.pk in found for one in some)}
    return found & {one.pk for one in of_models}


def newest_of(calibrations: Iterable[Calibration], condition: Condition) -> Calibration | None:
    """Return the first of calibrations, the newest first, that counts for a condition."""
    bound_to = judge_identity(condition), _things(condition)
    return next((one for one in calibrations if (one.identity, _things(one.judged)) == bound_to), None)


def calibrations_of(campaign: Campaign) -> QuerySet[Calibration]:
    """Return a campaign's calibrations, the newest first, without their figures."""
    return Calibration.objects.filter(campaign=campaign).select_related(*_RELATED, "created_by").defer("result")


def open_requests(campaign: Campaign) -> list[CalibrationRequest]:
    """Return what was asked for last of each two sides and is not made: it waits, runs or came to nothing."""
    of_sides = campaign.calibration_requests.order_by().values("human", "human_source", "judged")
    newest = of_sides.annotate(last=Max("pk")).values("last")
    return list(campaign.calibration_requests.filter(pk__in=newest, calibration=None).select_related(*_RELATED))


def condition_marks(conditions: Sequence[Condition]) -> dict[int, str]:
    """Return what tables say beside the names of a campaign's conditions whose scores are not calibrated, by key."""
    return {pk: UNCALIBRATED for one in conditions[:1] for pk in uncalibrated(one.campaign, conditions)}


# What pages and files show


class StepRow(NamedTuple):
    """A step in a table of all. own: of each label that the judge gave, how often people gave it too.

    passes: whether it reaches the gate, if there is one.
    """

    step: Json
    all_labels: Json
    own: Sequence[Json]
    passes: bool


def step_rows(result: Json, gate: CalibrationGate | None) -> list[StepRow]:
    """Return the steps that a calibration is of."""
    rows = []
    for step in result["steps"]:
        found = step["strata"][0]
        own = [row["human"][at] for at, row in enumerate(found["rows"])]
        has_passed = bool(gate and reaches(gate, found["n"], found["topics"], found["kappa"]))
        rows.append(StepRow(step, found, own, has_passed))
    return rows


def headlines(calibration: Calibration) -> list[str]:
    """Return in a sentence what a calibration found, of each step."""
    return [_headline(calibration, step) for step in calibration.result["steps"]]


def _headline(calibration: Calibration, step: Json) -> str:
    judge, all_labels, words = calibration.identity["judge"], step["strata"][0], calibration.result["labels"]
    name = "quadratic κ" if len(words) > 2 else "κ"  # of two labels both are the same
    where = f"{step['title'].capitalize()}: where" if step["title"] else "Where"
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
        f"{where} {judge} says {words[top]}, people say {words[top]} in {100 * share['value']:.1f} % of cases"
        f"{_interval(share, 100)}, and {bias}; {name} is {_figure(all_labels['kappa'])} over "
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
        "human": str(calibration.people),
        "judged": calibration.judged.name,
        "kind": calibration.kind,
        **calibration.identity,
        "made_at": calibration.created_at.isoformat(),
        **calibration.result,
    }


_HEADER = ("step", "by", "stratum", "given", "label", "outcome", "value", "low", "high", "n", "effective_n", "why")


def _file_rows(calibration: Calibration) -> Iterator[Sequence[object]]:
    for step in calibration.result["steps"]:
        for row in _step_rows(calibration.result, step):
            yield step["name"], *row


def _step_rows(result: Json, found: Json) -> Iterator[Sequence[object]]:
    words = result["labels"]
    for stratum in found["strata"]:
        names = (stratum["what"], stratum["name"])
        for word, row in zip(words, stratum["rows"], strict=True):
            for outcome, share in zip(words, row["human"], strict=True):
                yield *names, "model", word, f"human {outcome}", *_cells(share)
            yield *names, "model", word, "expected human value", *_cells(row["expected"])
        yield *names, "", "", "mean of people", *_cells(stratum["human_mean"])
        yield *names, "", "", "mean of the model", *_cells(stratum["model_mean"])
        for name, title in (("kappa", "kappa, quadratic"), ("unweighted", "kappa")):
            yield *names, "", "", title, *_cells(stratum[name] | {"n": stratum["n"], "effective": None})
    for word, row in zip(words, found["model_given_human"], strict=True):
        for outcome, share in zip(words, row, strict=True):
            yield "", "all labels", "human", word, f"model {outcome}", *_cells(share)
    for step in found["curve"]:
        least = f"human {at_least(result)}"
        yield "", "all labels", "model", words[step["label"]], least, *_cells(step["yes"])
        yield "", "all labels", "model", words[step["label"]], f"{least}, isotonic", step["fitted"], *[""] * 5


def _cells(estimate: Json) -> tuple[object, ...]:
    return tuple(estimate[name] for name in ("value", "low", "high", "n", "effective", "why"))
