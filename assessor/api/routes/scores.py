"""Scores and comparisons."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponseBase
from ninja import Field, Query, Router

from assessor.api.authentication import asker
from assessor.api.lookups import judged_topics, runs_called
from assessor.api.operations import many, one
from assessor.api.pagination import MOST, Asked, Id, Json, Key, Listing, Parameters, Text, answer, as_json, of_records
from assessor.api.schemas import (
    AllJudges,
    CalibrationItem,
    CalibrationTold,
    ComparisonItem,
    ComparisonTold,
    HybridItem,
    HybridScores,
    Policies,
    ScoreTable,
    TopicScores,
)
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import ChoiceError
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import STATES, shown
from assessor.scores.loading import Scores
from assessor.scores.score_source import scored_conditions
from assessor.scores.tables import Row, cell_figures, score_table
from assessor.work.exposure import take_file
from metaeval.access import campaign_calibration, campaign_comparison, campaign_hybrid
from metaeval.calibrations import calibrations_of
from metaeval.exposure import seen_in_calibration, seen_in_comparison, seen_in_hybrid, seen_of_judges
from metaeval.hybrid_tables import draws_json, score_json
from metaeval.hybrids import hybrid_result, hybrids_of
from metaeval.inputs import NothingToCompare
from metaeval.judge_agreement import Judge, choose_judges, in_csv, judge_agreement
from metaeval.judge_agreement import as_json as judges_json
from metaeval.measures import absolute_measures
from metaeval.models import Calculation, Calibration, Comparison, Hybrid
from metaeval.queries import comparisons_of
from metaeval.report import result_json
from metaeval.stats.means import Policy

router = Router()
_ZERO_OR_NOT = "How a topic counts that a run did not answer: as 0 (zero), not at all (answered)"
_POLICY = f"{_ZERO_OR_NOT}, or for no run (common)."


class TableAsked(Parameters):
    policy: Policies = Field("zero", description=_POLICY)


class HybridAsked(Parameters):
    measure: Text = Field("", description="By this measure, by its key; the first where none is asked for.")


class JudgesAsked(Parameters):
    judge: list[Text] = Field([], max_length=MOST, description="Of these and the one that is named alone, by name.")


class LabelJudgesAsked(JudgesAsked):
    measure: Text = Field("", description="By which runs are ranked, by its key; the first where none is asked for.")
    policy: Literal["zero", "answered"] = Field("zero", description=f"{_ZERO_OR_NOT}.")


class CellsAsked(Asked):
    policy: Policies = Field(
        "zero",
        description="Under zero an unanswered topic has the scores of an empty answer; under common a topic that not "
        "all runs answered has none.",
    )
    topic: list[Text] = Field([], max_length=MOST, description="Of these topics alone, by id.")
    run: list[Text] = Field([], max_length=MOST, description="Of these runs alone, by tag.")


@one(router, "/campaigns/{slug}/conditions/{condition_id}/scores", "get_scores", ScoreTable, "results")
def get_scores(request: HttpRequest, slug: Text, condition_id: Id, asked: Query[TableAsked]) -> HttpResponseBase:
    """The score table of a condition; means over the complete answers alone, and how many are not."""
    campaign = organized_campaign(asker(request), slug)
    condition, policy = _scored(campaign, condition_id), Policy(asked.policy)
    found = condition_scores(condition)
    table = score_table(found, policy)
    rows = {"runs": table.systems, "over": table.over, "controls": table.controls}
    told = {
        "condition": str(condition),
        "policy": policy,
        "measures": list(found.measures.keys),
        "topics": len(found.topics),
        "incomplete": table.incomplete,
        "not_judged_by_plan": table.outside,
        "unusual": dict(found.unusual),
    }
    return as_json(told | {name: [_run(found, row) for row in some] for name, some in rows.items()})


def _run(found: Scores, row: Row) -> Json:
    team, task, mark = (row.run.team, row.run.task, row.run.mark) if row.run else ("", "", "")
    counts = {"topics": row.topics, "complete": row.complete, "incomplete": row.incomplete}
    told = {"run_id": row.name, "team": team, "task": task, "mark": mark, **counts, "not_judged_by_plan": row.outside}
    return {**told, "scores": _named(found, row.figures), "standard_errors": _named(found, row.errors)}


def _named(found: Scores, figures: Sequence[float]) -> dict[str, float | None]:
    return dict(zip(found.measures.keys, map(shown, figures), strict=True))


@many(router, "/campaigns/{slug}/conditions/{condition_id}/scores/topics", "list_topic_scores", TopicScores, "results")
def list_topic_scores(request: HttpRequest, slug: Text, condition_id: Id, asked: Query[CellsAsked]) -> HttpResponseBase:
    """The scores of each run's answer to each topic, by run's tag and topic id."""
    campaign = organized_campaign(asker(request), slug)
    condition, policy = _scored(campaign, condition_id), Policy(asked.policy)
    topics = {topic.qid for topic in judged_topics(campaign, asked.topic)}
    runs = {run.tag for run in runs_called(campaign, asked.run)} if asked.run else None

    def after(key: Key | None, most: int | None) -> Iterator[tuple[Key, Json]]:
        found = condition_scores(condition)
        figures = cell_figures(found, policy)
        for at, run in enumerate(found.runs):
            if (runs is None or run.tag in runs) and (key is None or run.tag >= key[0]):
                states, scores = found.states[at].tolist(), figures[at].tolist()
                for topic, state, of_topic in zip(found.topics, states, scores, strict=True):
                    place = (run.tag, topic.qid)
                    if topic.qid in topics and (key is None or place > key):
                        cell = {"state": STATES[state], "scores": _named(found, of_topic)}
                        yield place, {"run_id": run.tag, "qid": topic.qid, "mark": run.mark, **cell}

    return answer(request, asked, Listing(after, (str, str)))


def _scored(campaign: Campaign, condition_id: int) -> Condition:
    condition = scored_conditions(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


@many(router, "/campaigns/{slug}/comparisons", "list_comparisons", ComparisonItem, "results")
def list_comparisons(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """The comparisons."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(comparisons_of(campaign), _comparison))


@one(router, "/campaigns/{slug}/comparisons/{comparison_id}", "get_comparison", ComparisonTold, "results")
def get_comparison(request: HttpRequest, slug: Text, comparison_id: Id) -> HttpResponseBase:
    """A comparison, with all that was found."""
    comparison = campaign_comparison(organized_campaign(asker(request), slug), comparison_id)
    done = comparison.calculations.filter(state=Calculation.State.DONE).order_by("-pk").first()
    if done:
        take_file(asker(request), seen_in_comparison(comparison))
    return as_json(_comparison(comparison) | {"result": json.loads(result_json(done)) if done else None})


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "id": comparison.pk,
        "name": comparison.name,
        "first": str(comparison.first),
        "second": str(comparison.second),
        "policy": comparison.policy,
        "seed": comparison.seed,
        "draws": comparison.draws,
        "state": comparison.last_state,  # type: ignore[attr-defined]  # annotated
        "created_at": comparison.created_at.isoformat(),
    }


@one(router, "/campaigns/{slug}/conditions/{condition_id}/judges", "get_label_judges", AllJudges, "results")
def get_label_judges(
    request: HttpRequest, slug: Text, condition_id: Id, asked: Query[LabelJudgesAsked]
) -> HttpResponseBase:
    """How far all judges of the same items as a condition's agree, on labels and on the ranking of runs."""
    record = _scored(organized_campaign(asker(request), slug), condition_id)
    keys = [measure.key for measure in absolute_measures(record)]
    measure = asked.measure or next(iter(keys), "")  # preferences have none but between the runs that are compared
    if measure and measure not in keys:
        raise Http404("There is no such measure.")
    return _judges(request, record, asked.judge, Policy(asked.policy), measure)


@one(router, "/campaigns/{slug}/qrels/{source_id}/judges", "get_grade_judges", AllJudges, "results")
def get_grade_judges(request: HttpRequest, slug: Text, source_id: Id, asked: Query[JudgesAsked]) -> HttpResponseBase:
    """How far all sources of grades on the same scale agree."""
    record = organized_campaign(asker(request), slug).qrels_sources.filter(pk=source_id).first()
    if record is None:
        raise Http404("There is no such source of grades in this campaign.")
    return _judges(request, record, asked.judge)


def _judges(
    request: HttpRequest, record: Judge, names: Sequence[str], policy: Policy = Policy.ZERO, measure: str = ""
) -> HttpResponseBase:
    try:
        judges = choose_judges(record, in_csv(names) if names else "")
    except ChoiceError as error:
        raise Http404(str(error)) from error
    take_file(asker(request), seen_of_judges(judges))
    return as_json(judges_json(judge_agreement(record, judges, policy, measure)))


@many(router, "/campaigns/{slug}/hybrids", "list_hybrids", HybridItem, "results")
def list_hybrids(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """The hybrid scores."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(hybrids_of(campaign).prefetch_related("human__draws"), _hybrid))


@one(router, "/campaigns/{slug}/hybrids/{hybrid_id}/scores", "get_hybrid_scores", HybridScores, "results")
def get_hybrid_scores(request: HttpRequest, slug: Text, hybrid_id: Id, asked: Query[HybridAsked]) -> HttpResponseBase:
    """The scores of runs by a measure, with their intervals."""
    hybrid = campaign_hybrid(organized_campaign(asker(request), slug), hybrid_id)
    try:
        result = hybrid_result(hybrid, asked.measure)
    except KeyError as error:
        raise Http404("There is no such measure.") from error
    except NothingToCompare as error:
        raise Http404(str(error)) from error
    take_file(asker(request), seen_in_hybrid(hybrid))
    return as_json(score_json(result))


def _hybrid(hybrid: Hybrid) -> dict[str, Any]:
    return {
        "id": hybrid.pk,
        "name": hybrid.name,
        "human": str(hybrid.human),
        "model": str(hybrid.model),
        "draw": str(hybrid.draw) if hybrid.draw else None,
        "draws": draws_json(hybrid),
        "target": hybrid.target,
        "confidence": hybrid.confidence,
        "prior_sd": float(hybrid.prior_sd),
        "policy": hybrid.policy,
        "created_at": hybrid.created_at.isoformat(),
    }


@many(router, "/campaigns/{slug}/calibrations", "list_calibrations", CalibrationItem, "results")
def list_calibrations(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """The calibrations of judges."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(calibrations_of(campaign), _calibration))


@one(router, "/campaigns/{slug}/calibrations/{calibration_id}", "get_calibration", CalibrationTold, "results")
def get_calibration(request: HttpRequest, slug: Text, calibration_id: Id) -> HttpResponseBase:
    """A calibration, with all that was found."""
    calibration = campaign_calibration(organized_campaign(asker(request), slug), calibration_id)
    take_file(asker(request), seen_in_calibration(calibration))
    return as_json(_calibration(calibration) | {"result": calibration.result})


def _calibration(calibration: Calibration) -> dict[str, Any]:
    return {
        "id": calibration.pk,
        "name": calibration.name,
        "human": str(calibration.people),
        "judged": str(calibration.judged),
        "kind": calibration.kind,
        "identity": calibration.identity,
        "labels": calibration.labels,
        "topics": calibration.topics,
        "kappa": calibration.kappa,
        "created_at": calibration.created_at.isoformat(),
    }
