"""The writers of sensitivity studies."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import CONTROL, Condition, Topic
from assessor.campaigns.queries import own_answers, without_practice
from assessor.labels.label_kind import label_kind, label_kinds
from assessor.llm.actions import JobError, Plan, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompt_sets import names as prompt_set_names
from assessor.studies.actions import StudyError, lock_campaign, require_valid
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import (
    BATCH,
    FACTORS,
    JUDGE,
    MOST,
    MOST_LEVELS,
    ORDER,
    ORDERS,
    PROMPT_SET,
    REPLICATE,
    Variant,
    drawn,
    settings_of,
    topics_of,
    variants_of,
)
from assessor.work.allocation import new_seed

TOPICS, RUNS = 20, 10  # of a sample, by default
MOST_ANSWERS = 2_000
_NAME = 120  # characters of a condition's


def draw_sensitivity(
    *,
    nuggets: Condition,
    name: str,
    factors: Mapping[str, Sequence[Any]],
    topics: int = TOPICS,
    runs: int = RUNS,
    seed: int | None = None,
    kind: str = "",
    acting_user: Person | None,
) -> Sensitivity:
    """Draw the answers of some runs to some topics, and keep them with how a judge is to be asked. Raises StudyError.

    factors: as variants_of() takes them. Topics are those with a finished bank and answers. Runs that answered all of
    the topics go first, and of these one of each team before a second one. seed: made up where there is none. kind: of
    label; the first one that can be varied where there is none.
    """
    campaign, seed = nuggets.campaign, new_seed() if seed is None else seed
    kind = kind or variant_kinds()[0]
    study = Sensitivity(
        campaign=campaign,
        name=" ".join(name.split()),
        kind=kind,
        nuggets=nuggets,
        factors={factor: list(factors[factor]) for factor in FACTORS},
        topics=[],
        runs=[],
        seed=seed,
        created_by=acting_user,
    )
    _require_design(study)
    if topics < 1 or runs < 2 or topics * runs > MOST_ANSWERS:
        raise StudyError(f"A sample has a topic or more, two runs or more, and {MOST_ANSWERS:,} answers at most.")
    there = _topics_with_banks(study)
    chosen = [there[qid] for qid in sorted(drawn(seed, there)[:topics])]
    study.topics = [one.qid for one in chosen]
    study.runs = _runs(seed, chosen, runs)
    if len(study.runs) < 2:
        raise StudyError(f"Fewer than two runs answered topics with finished {label_kind(kind).nuggets_called}.")
    with transaction.atomic():
        lock_campaign(campaign)
        require_valid(study)
        study.save()
        history.record(
            "sensitivity study drawn",
            study,
            campaign=campaign,
            person=acting_user,
            nuggets=nuggets.name,
            factors=study.factors,
            seed=seed,
            topics=study.topics,
            runs=study.runs,
        )
    return study


def variant_kinds() -> list[str]:
    """Return the names of the kinds of label of which there can be sensitivity studies."""
    return [kind.name for kind in label_kinds() if kind.has_variants]


def _require_design(study: Sensitivity) -> None:
    factors, campaign = study.factors, study.campaign
    if study.kind not in variant_kinds():
        raise StudyError(f"How labels of {study.kind} are asked can't be varied.")
    if study.nuggets.kind not in label_kind(study.kind).builds_on:
        raise StudyError(f"{study.nuggets} has no {label_kind(study.kind).nuggets_called}.")
    if any(not levels or len(levels) != len(set(levels)) for levels in factors.values()):
        raise StudyError("Each factor has one level or more, none of them twice.")
    if any(len(levels) > MOST_LEVELS for levels in factors.values()) or len(variants_of(factors)) > MOST:
        raise StudyError(f"A study has {MOST_LEVELS} levels of a factor and {MOST} variants at most.")
    if len(variants_of(factors)) < 2:
        raise StudyError("Nothing varies: give one factor two levels.")
    known = {
        JUDGE: set(campaign.model_judges.values_list("judge__name", flat=True)),
        PROMPT_SET: set(prompt_set_names(campaign)),
        ORDER: set(ORDERS),
    }
    for factor, there in known.items():
        if unknown := [str(one) for one in factors[factor] if one not in there]:
            raise StudyError(f"There is no {factor.replace('_', ' ')} {', '.join(unknown)}.")
    if not all(1 <= size <= 100 for size in factors[BATCH]):
        raise StudyError("1 to 100 nuggets are asked in a call.")
    if list(factors[REPLICATE]) != list(range(len(factors[REPLICATE]))):
        raise StudyError("Repetitions are numbered from 0.")
    require_valid(study, exclude=("topics", "runs"))


def _topics_with_banks(study: Sensitivity) -> dict[str, Topic]:
    every = list(without_practice(study.campaign.topics.order_by("qid"), "pk"))
    condition = Condition(campaign=study.campaign, kind=study.kind, nuggets=study.nuggets)
    states = job_kind_named(label_kind(study.kind).job).topic_states(condition, every)
    found = {topic.qid: topic for topic in every if not states[topic.pk].lacking}
    if not found:
        raise StudyError(f"No topic has finished {label_kind(study.kind).nuggets_called} and answers.")
    return found


def _runs(seed: int, topics: Sequence[Topic], most: int) -> list[str]:
    """Return the tags of so many runs that answered the topics."""
    answers = own_answers([topic.pk for topic in topics]).exclude(run__task=CONTROL).order_by()
    answered = Counter(answers.values_list("run__tag", "run__team"))
    teams = dict(answered.keys())
    places: dict[str, tuple[int, int]] = {}
    of_group: Counter[tuple[int, str]] = Counter()
    for tag in drawn(seed, teams):
        group = len(topics) - answered[tag, teams[tag]], teams[tag] or tag
        places[tag] = group[0], of_group[group]
        of_group[group] += 1
    # Sorting keeps the drawn order of what is equal.
    return sorted(sorted(places, key=lambda tag: places[tag])[:most])


def plan_variants(study: Sensitivity) -> dict[Variant, Plan]:
    """Say what the jobs of all variants would do and take; nothing is written. Raises JobError.

    Those under which a job is at work, or is to be resumed, are left out.
    """
    kind = job_kind_named(label_kind(study.kind).job)
    judges = {
        one.judge.name: one
        for one in ModelJudge.objects.filter(campaign=study.campaign).select_related("judge", "campaign")
    }
    variants, topics = variants_of(study.factors), topics_of(study)
    at_work = Job.objects.filter(campaign=study.campaign, condition__sample=study.name).exclude(state__in=Job.OVER)
    names = set(at_work.values_list("condition__name", flat=True))
    if lacking := [one for one in study.factors[JUDGE] if one not in judges]:
        raise JobError(f"The campaign has no judge called {', '.join(lacking)}.")
    found = {}
    for number, variant in enumerate(variants, start=1):
        name = f"{study} {number}: {variant.in_words(variants[0])}"[:_NAME]
        if name not in names:
            found[variant] = plan_job(
                kind=kind,
                judge=judges[variant.judge],
                name=name,
                qrels_source=None,
                topics=topics,
                nuggets=study.nuggets,
                replicate=variant.replicate,
                sample=study.name,
                variant=settings_of(study, variant),
            )
    return found


def total_estimate(plans: Mapping[Variant, Plan]) -> dict[str, Any]:
    """Return the calls, tokens and cost that the jobs of variants take together."""
    estimates = [plan.estimate for plan in plans.values()]
    total: dict[str, Any] = {name: sum(one[name] for one in estimates) for name in ("calls", "tokens_in", "tokens_out")}
    return total | {"cost": sum((Decimal(one["cost"]) for one in estimates), Decimal(0))}


@transaction.atomic
def launch_variants(
    plans: Mapping[Variant, Plan],
    *,
    most_calls: int | None = None,
    most_cost: Decimal | None = None,
    acting_user: Person | None,
    to_workers: bool = True,
) -> list[Job]:
    """Launch a job for each variant that lacks labels, all or none. Raises JobError.

    The budget is that of each job.
    """
    jobs = [
        launch(plan, most_calls=most_calls, most_cost=most_cost, acting_user=acting_user, to_workers=to_workers)
        for plan in plans.values()
        if plan.expected.calls
    ]
    if not jobs:
        raise JobError("There is nothing to do: all variants are labelled, or their jobs are at work.")
    return jobs
