"""The writers of comparisons and calibrations: made, imported, computed."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Condition, QrelsSource
from assessor.formats.lines import Line, SourceFile
from assessor.formats.report import Report, Unreadable, quantity
from assessor.scores.score_source import scoring_of
from assessor.work.allocation import new_seed
from assessor.work.models import Draw
from metaeval.background import Progress, Update, carry_out
from metaeval.calibrations import NotCalibrated, calibrate_labels, judge_identity, least_of, refusal
from metaeval.formats.score_tables import read_score_table
from metaeval.inputs import NothingToCompare, resolve_aliases
from metaeval.measures import kinds_with
from metaeval.models import (
    Calculation,
    Calibration,
    CalibrationGate,
    CalibrationRequest,
    Comparable,
    Comparison,
    Figure,
    HumanSide,
    Hybrid,
    ScoreTable,
)
from metaeval.stats.ceiling import MARGIN
from metaeval.stats.hybrid import PRIOR_SD, Target
from metaeval.stats.means import Policy
from metaeval.stats.measures import COVERAGE, PRECISION

if TYPE_CHECKING:
    from metaeval.calculation import Computation

DRAWS, MOST_DRAWS = 1_000, 10_000
MAX_LINES = 500_000  # of a score table: a track's, by topic and measure, in a leaderboard, has 310,000


class ComparisonError(Exception):
    """There can be no such comparison; the text says why."""


class TableError(Exception):
    """A score table can't be read; the report says why."""

    def __init__(self, report: Report) -> None:
        super().__init__(f"{report.file_name} was not read: {quantity(report.error_count, 'errors')}.")
        self.report = report


def import_table(
    *, campaign: Campaign, name: str, path: Path, file_name: str, run: str = "", acting_user: Person | None
) -> ScoreTable:
    """Keep a score table. Raises TableError and ComparisonError.

    name: the file's where there is none. run: whose it is, where the file names none.
    """
    name = " ".join(name.split()) or file_name[:120]
    report, source = Report(file_name), SourceFile(path)
    kept: list[Line] = []
    try:
        for line in source.lines(report):
            kept.append(line)
            if len(kept) > MAX_LINES:
                raise report.fatal(line.number, "", "more lines", f"a table of at most {MAX_LINES:,} lines")
        found = read_score_table(kept, report, name=name, run=run, policy=Policy.ZERO)
    except Unreadable:
        found = None
    if found and not report.error_count:
        called = Counter(resolve_aliases(campaign, found.runs))
        for tag, count in called.items():
            if count > 1:
                report.error(0, "run_id", f"{count} names of the run {tag}", "each run once")
    if found is None or report.error_count:
        raise TableError(report)
    table = ScoreTable(
        campaign=campaign,
        name=name,
        file_name=file_name[:255],
        sha256=source.sha256,
        run=run,
        content="".join(f"{line.text}\n" for line in kept),
        created_by=acting_user,
    )
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        _require_valid(table)
        table.save()
        history.record(
            "score table imported",
            table,
            campaign=campaign,
            person=acting_user,
            file=table.file_name,
            sha256=table.sha256,
            runs=len(found.runs),
            measures=found.measures,
        )
    return table


def _require_valid(record: models.Model) -> None:
    try:
        record.full_clean()
    except ValidationError as error:
        raise ComparisonError(" ".join(error.messages)) from error


def create_comparison(
    *,
    campaign: Campaign,
    first: Comparable,
    second: Comparable,
    name: str = "",
    first_support: Condition | None = None,
    second_support: Condition | None = None,
    tasks: Sequence[str] = (),
    runs: Sequence[str] = (),
    topics: Sequence[str] = (),
    topics_of: Condition | None = None,
    circular: bool = False,
    margin: float = MARGIN,
    policy: Policy = Policy.ZERO,
    seed: int | None = None,
    draws: int = DRAWS,
    acting_user: Person | None,
) -> Calculation:
    """Make a comparison, and note down that it is to be computed. Raises ComparisonError.

    name: one is made of both sides where there is none. What restricts is as Comparison has it. seed: made up where
    there is none.
    """
    _require_comparable(campaign, first, second, (first_support, second_support), topics_of)
    _require_known("task", tasks, campaign.runs.values_list("task", flat=True))
    _require_known("run", runs, campaign.runs.values_list("tag", flat=True))
    _require_known("topic", topics, campaign.topics.values_list("qid", flat=True))
    if not 1 <= draws <= MOST_DRAWS:
        raise ComparisonError(f"Topics are drawn 1 to {MOST_DRAWS:,} times.")
    if not 0 < round(margin, 3) < 1:
        raise ComparisonError("The margin of κ is above 0 and below 1, with three digits at most.")
    comparison = Comparison(
        campaign=campaign,
        name=" ".join(name.split()),
        **{_field("first", first): first, _field("second", second): second},
        first_support=first_support,
        second_support=second_support,
        tasks=sorted(set(tasks)),
        runs=sorted(set(runs)),
        topics=sorted(set(topics)),
        topics_of=topics_of,
        circular=circular,
        margin=Decimal(f"{margin:.3f}"),
        policy=policy,
        seed=new_seed() if seed is None else seed,
        draws=draws,
        created_by=acting_user,
    )
    with transaction.atomic():
        # Of two at once, the second finds the first one's name.
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        comparison.name = comparison.name or _free_name(campaign.comparisons, f"{first} and {second}")
        _require_valid(comparison)
        comparison.save()
        history.record(
            "comparison made",
            comparison,
            campaign=campaign,
            person=acting_user,
            first=str(first),
            second=str(second),
            tasks=comparison.tasks,
            runs=comparison.runs,
            topics=comparison.topics,
            topics_of=str(topics_of) if topics_of else None,
            **({"circular": True} if circular else {}),
            **({"margin": margin} if margin != MARGIN else {}),
            policy=policy,
            seed=comparison.seed,
            draws=draws,
        )
        return Calculation.objects.create(comparison=comparison, created_by=acting_user)


def _field(place: str, record: Comparable) -> str:
    if isinstance(record, Condition):
        return f"{place}_condition"
    return f"{place}_source" if isinstance(record, QrelsSource) else f"{place}_table"


def _free_name(records: "models.Manager[Any]", name: str) -> str:
    """Return a name that none of a campaign's records has yet."""
    name = name[: records.model._meta.get_field("name").max_length - 20]
    taken = set(records.filter(name__startswith=name).values_list("name", flat=True))
    numbered = (f"{name} ({number})" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)


def _require_comparable(
    campaign: Campaign,
    first: Comparable,
    second: Comparable,
    supports: tuple[Condition | None, Condition | None],
    topics_of: Condition | None,
) -> None:
    records = [first, second, *(one for one in (*supports, topics_of) if one)]
    if any(one.campaign_id != campaign.pk for one in records):
        raise ComparisonError(f"Both sides must be of {campaign}.")
    if first == second:
        raise ComparisonError("A comparison is of two different things.")
    kinds = {_kind(one) for one in (first, second)} - {""}
    if len(kinds) > 1:
        raise ComparisonError(f"{first} and {second} have labels of different kinds: they can't be compared.")
    if "grades" in kinds and any(isinstance(one, ScoreTable) for one in (first, second)):
        raise ComparisonError(
            "Grades are of passages: they make no scores of runs that a table could be compared with."
        )
    for record, support in zip((first, second), supports, strict=True):
        if support and (_kind(support) not in kinds_with(PRECISION) or _kind(record) not in kinds_with(COVERAGE)):
            raise ComparisonError(
                "F1 is made of support and nuggets: choose a condition of support for one of nuggets."
            )
    if bool(supports[0]) != bool(supports[1]):
        raise ComparisonError("F1 can be compared where both sides have a condition of support.")
    if topics_of:
        _kind(topics_of)


def _kind(record: Comparable) -> str:
    """Return what a record's labels are of; nothing for a table. Raises ComparisonError."""
    if isinstance(record, QrelsSource):
        return "grades"
    if isinstance(record, ScoreTable):
        return ""
    try:
        scoring_of(record.kind)
    except KeyError as error:
        raise ComparisonError(f"{record} has no labels of answers to compare.") from error
    if record.sample:
        raise ComparisonError(f"{record} is a study's: its sample makes no scores of runs.")
    return record.kind


def _require_known(what: str, names: Collection[str], known: "models.QuerySet[models.Model, str]") -> None:
    if unknown := sorted(set(names) - set(known)):
        raise ComparisonError(f"The campaign has no {what} {', '.join(unknown)}.")


def create_hybrid(
    *,
    campaign: Campaign,
    human: Condition,
    model: Condition,
    name: str = "",
    draw: Draw | None = None,
    target: Target = Target.CAMPAIGN,
    confidence: int = 95,
    prior_sd: Decimal = Decimal(str(PRIOR_SD)),
    policy: Policy = Policy.ZERO,
    acting_user: Person | None,
) -> Hybrid:
    """Keep of which conditions scores are estimated, and how. Raises ComparisonError.

    draw: which topics people judge, where these were drawn. name: one is made of both where there is none.
    """
    _require_hybrid(campaign, human, model, draw)
    hybrid = Hybrid(
        campaign=campaign,
        name=" ".join(name.split()),
        human=human,
        model=model,
        draw=draw,
        target=target,
        confidence=confidence,
        prior_sd=prior_sd,
        policy=policy,
        created_by=acting_user,
    )
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        hybrid.name = hybrid.name or _free_name(campaign.hybrids, f"{human} + {model}")
        _require_valid(hybrid)
        hybrid.save()
        history.record(
            "hybrid scores made",
            hybrid,
            campaign=campaign,
            person=acting_user,
            human=str(human),
            model=str(model),
            draw=str(draw) if draw else None,
            target=target,
            confidence=confidence,
            prior_sd=str(prior_sd),
            policy=policy,
        )
    return hybrid


def _require_hybrid(campaign: Campaign, human: Condition, model: Condition, draw: Draw | None) -> None:
    if {human.campaign_id, model.campaign_id} != {campaign.pk}:
        raise ComparisonError(f"Both conditions must be of {campaign}.")
    kinds = {_kind(one) for one in (human, model)}
    if not human.is_peoples or human.of_passages:
        raise ComparisonError(f"{human} is no condition of people who judge answers.")
    if not model.is_a_models or model.of_passages:
        raise ComparisonError(f"{model} is no condition of a model that judges answers.")
    if len(kinds) > 1:
        raise ComparisonError(f"{human} and {model} have labels of different kinds: they make no scores together.")
    sources = model.label_sources
    if human.shown and (human.shown in sources or human.shown.judge in [one.judge for one in sources]):
        raise ComparisonError(
            f"People saw the labels of {human.shown} as they judged under {human}: anchored to the model, their labels "
            "cannot tell how far it errs. Choose people who judged without them."
        )
    if draw and draw.condition_id != human.pk:
        raise ComparisonError(f"The topics were drawn under {draw.condition}, not under {human}.")


def calculate_again(comparison: Comparison, *, acting_user: Person | None) -> Calculation:
    """Note down that a comparison is to be computed anew; one that waits or runs already is that one."""
    try:
        with transaction.atomic():
            return Calculation.objects.create(comparison=comparison, created_by=acting_user)
    except IntegrityError:
        return comparison.calculations.filter(state__in=Calculation.ACTIVE).get()


def run(calculation: Calculation) -> Calculation:
    """Compute a comparison, unless it is being computed or over."""
    from metaeval.calculation import compute  # workers alone need what draws figures

    def computed(progress: Progress) -> Callable[[Update], None]:
        return partial(_keep, calculation, compute(calculation.comparison, progress))

    return carry_out(calculation, computed, nothing=NothingToCompare)


def _keep(calculation: Calculation, computed: "Computation", done: Update) -> None:
    with transaction.atomic():
        if done(inputs=computed.inputs, result=computed.result, files=computed.files):
            Figure.objects.bulk_create(
                Figure(calculation=calculation, name=one.name, title=one.title, specification=one.specification)
                for one in computed.figures
            )


def request_calibration(
    *, campaign: Campaign, human: HumanSide, judged: Condition, acting_user: Person | None
) -> CalibrationRequest:
    """Note down that a judge is to be calibrated; one of both that waits or runs already is that one.

    Raises NotCalibrated.
    """
    _require_calibration(campaign, human, judged)
    of = {"campaign": campaign, **_sides(human, judged)}
    try:
        with transaction.atomic():
            return CalibrationRequest.objects.create(**of, created_by=acting_user)
    except IntegrityError:
        return CalibrationRequest.objects.get(**of, state__in=CalibrationRequest.ACTIVE)


def run_calibration(request: CalibrationRequest) -> CalibrationRequest:
    """Calibrate a judge as was asked for, unless that is being done or over."""

    def computed(progress: Progress) -> Callable[[Update], None]:
        progress(10, "labels")
        return partial(keep, calibrate_labels(request.people, request.judged))

    def keep(result: dict[str, Any], done: Update) -> None:
        with transaction.atomic():
            made = _keep_calibration(
                campaign=request.campaign,
                human=request.people,
                judged=request.judged,
                result=result,
                acting_user=request.created_by,
            )
            if not done(calibration=made):
                transaction.set_rollback(True)  # another process has it now, and makes one

    return carry_out(request, computed, nothing=NotCalibrated)


def create_calibration(
    *, campaign: Campaign, human: HumanSide, judged: Condition, acting_user: Person | None
) -> Calibration:
    """Calibrate the judge of a condition by people's labels of the same things. Raises NotCalibrated."""
    _require_calibration(campaign, human, judged)
    result = calibrate_labels(human, judged)
    return _keep_calibration(campaign=campaign, human=human, judged=judged, result=result, acting_user=acting_user)


def _require_calibration(campaign: Campaign, human: HumanSide, judged: Condition) -> None:
    if {human.campaign_id, judged.campaign_id} != {campaign.pk}:
        raise NotCalibrated(f"Both sides must be of {campaign}.")
    if why := refusal(human, judged):
        raise NotCalibrated(why)


def _sides(human: HumanSide, judged: Condition) -> dict[str, Any]:
    return {"human" if isinstance(human, Condition) else "human_source": human, "judged": judged}


def _keep_calibration(
    *, campaign: Campaign, human: HumanSide, judged: Condition, result: dict[str, Any], acting_user: Person | None
) -> Calibration:
    with transaction.atomic():
        # Of two at once, the second finds the first one's name.
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        calibration = Calibration.objects.create(
            campaign=campaign,
            name=_free_name(campaign.calibrations, f"{judged} against {human}"),
            **_sides(human, judged),
            kind=judged.kind,
            identity=judge_identity(judged),
            **least_of(result),
            result=result,
            created_by=acting_user,
        )
        history.record(
            "calibration made",
            calibration,
            campaign=campaign,
            person=acting_user,
            identity=calibration.identity,
            labels=calibration.labels,
            topics=calibration.topics,
            kappa=calibration.kappa,
        )
    return calibration


def set_calibration_gate(gate: CalibrationGate, *, acting_user: Person | None) -> CalibrationGate:
    """Set what a campaign's calibrations must reach from now on; gate is valid and not saved."""
    gate.created_by = acting_user
    with transaction.atomic():
        gate.save()
        history.record(
            "calibration gate set",
            gate,
            campaign=gate.campaign,
            person=acting_user,
            kappa=None if gate.least_kappa is None else float(gate.least_kappa),
            labels=gate.least_labels,
            topics=gate.least_topics,
        )
    return gate
