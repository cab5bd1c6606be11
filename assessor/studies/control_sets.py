"""Control sets: what a judge labelled, drawn once and asked again, to see whether it drifts."""

import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import groupby
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Answer, Campaign, Condition
from assessor.campaigns.queries import without_practice
from assessor.labels.label_kind import label_kind
from assessor.llm import runner
from assessor.llm.actions import MOST_REPLICATES, JobError, Plan, launch
from assessor.llm.job_kind import JobKind, job_kinds
from assessor.llm.models import Call, Job, StoredPrompt
from assessor.llm.prompts import PromptSet
from assessor.studies.actions import StudyError, require_valid, store_study
from assessor.studies.models import ControlCheck, ControlSet, SampledItem, Study
from assessor.studies.queries import topics_of
from assessor.studies.sampling import Sampling, sampled_kinds, sampling_of
from assessor.work.allocation import new_seed
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.control import PASSES, Drift, find_drift

CELLS = 100
SETTINGS = ("every_days", "most_calls", "most_cost", "halts_jobs")
_log = logging.getLogger(__name__)
_TOPICS_AT_ONCE = 10  # are read together: a track's have 1,500 answers


def controllable(campaign: Campaign) -> list[Condition]:
    """Return the conditions under which judges of a campaign gave labels here of which there can be control sets."""
    given = campaign.conditions.filter(kind__in=sampled_kinds(), sample="", judge__model__campaign=campaign)
    return [one for one in given.select_related(*Condition.TOLD_WITH) if _job_kind(one)]


def _job_kind(condition: Condition) -> JobKind | None:
    """Return the kind of job that labels were given in; None where they were not."""
    kind = job_kinds().get(label_kind(condition.kind).job_on(condition))
    return kind if kind and kind.method == condition.method else None


def control_sets_of(campaign: Campaign) -> QuerySet[ControlSet]:
    """Return a campaign's control sets, the newest first."""
    first = ("judge__model__judge", "protocol", "nuggets")
    related = ("study__campaign", *(f"study__first__{name}" for name in first))
    return ControlSet.objects.filter(study__campaign=campaign).select_related(*related).order_by("-pk")


def passes_of(control: ControlSet) -> QuerySet[Condition]:
    """Return the conditions under which a set was asked, the first one first."""
    study = control.study
    return Condition.with_controls.filter(campaign=study.campaign_id, sample=study.name, is_control=True).order_by("pk")


def jobs_of(control: ControlSet) -> QuerySet[Job]:
    """Return the jobs in which a set was asked, the first one first."""
    return Job.objects.filter(condition__in=passes_of(control)).order_by("pk")


def draw_control_set(
    *,
    condition: Condition,
    name: str,
    cells: int = CELLS,
    seed: int | None = None,
    settings: dict[str, Any] | None = None,
    acting_user: Person | None,
) -> ControlSet:
    """Draw what is asked again of what a judge labelled, and keep it with these first labels. Raises StudyError.

    cells: how many answers, or items where a model is asked about one at a time. seed: the same one draws the same from
    the same labels; made up where there is none. settings: those of SETTINGS.
    """
    campaign = condition.campaign
    if condition not in controllable(campaign):
        raise StudyError(f"No job of a judge here gave the labels of {condition}.")
    if cells < 1:
        raise StudyError("Draw at least one.")
    study = Study(
        campaign=campaign,
        name=" ".join(name.split()),
        kind=condition.kind,
        purpose=Study.Purpose.CONTROL,
        first=condition,
        second=condition,
        seed=new_seed() if seed is None else seed,
        created_by=acting_user,
    )
    control = ControlSet(study=study, **(settings or {}))
    require_valid(study)
    _require_settings(control)
    drawn = _drawn(study, cells)
    if not drawn:
        raise StudyError(f"{condition} has no labels yet.")
    told = {"condition": condition.name, "seed": study.seed, "cells": cells, "items": len(drawn), **_told(control)}
    with transaction.atomic():
        store_study(study, drawn, told, acting_user, verb="control set drawn")
        control.save()
    return control


def _drawn(study: Study, cells: int) -> list[SampledItem]:
    """Return what is drawn: the cells whose hash with the seed is lowest, in that order, each with all its labels."""
    by = sampling_of(study.kind)
    topics = list(without_practice(study.campaign.topics.order_by("qid"), "pk"))
    lowest: list[tuple[bytes, list[SampledItem]]] = []
    for at in range(0, len(topics), _TOPICS_AT_ONCE):
        lowest += _cells_on(study, by, topics[at : at + _TOPICS_AT_ONCE])
        lowest = sorted(lowest, key=lambda cell: cell[0])[:cells]
    return [item for _, items in lowest for item in items]


def _cells_on(study: Study, by: Sampling, topics: Sequence[Any]) -> list[tuple[bytes, list[SampledItem]]]:
    labels = by.labels_on(study.first, topics)
    name_of = by.names(labels)
    answers = Answer.objects.filter(pk__in={answer for answer, _ in labels}).select_related("topic", "run")
    texts = {one.pk: (one.topic.qid, one.name if study.first.of_passages else one.run.tag) for one in answers}
    cells: dict[bytes, list[SampledItem]] = {}
    for key, label in labels.items():
        qid, text = texts[key[0]]
        item = by.drawn_by(name_of[key]) if by.is_asked_one_by_one else ""
        digest = sha256(f"{study.seed} {qid} {text} {item}".encode()).digest()
        drawn = SampledItem(study=study, answer_id=key[0], item=name_of[key], first_label=label, second_label=label)
        cells.setdefault(digest, []).append(drawn)
    return list(cells.items())


def _require_settings(control: ControlSet) -> None:
    try:
        control.full_clean(exclude=["study"])
    except ValidationError as error:
        raise StudyError(" ".join(error.messages)) from error


def _told(control: ControlSet) -> dict[str, Any]:
    """Return the settings as the history has them."""
    told = {name: getattr(control, name) for name in SETTINGS}
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in told.items()}


@transaction.atomic
def change_control_set(*, control: ControlSet, settings: dict[str, Any], acting_user: Person | None) -> None:
    """Change when a set is asked, what that may cost, and what an alarm does. Raises StudyError."""
    locked = ControlSet.objects.select_for_update(no_key=True, of=("self",)).select_related("study__campaign")
    present = locked.get(pk=control.pk)
    before = _told(present)
    for name, value in settings.items():
        setattr(present, name, value)
    _require_settings(present)
    present.save(update_fields=list(settings))
    history.record(
        "control set changed",
        present,
        campaign=present.study.campaign,
        person=acting_user,
        before=before,
        after=_told(present),
    )


def plan_pass(control: ControlSet) -> Plan:
    """Say what it takes to ask a set again, as it was asked first: same prompts, same protocol. Raises JobError."""
    study, first = control.study, control.study.first
    kind = _job_kind(first)
    if kind is None:
        raise JobError(f"No job gives labels as {first} has them any more.")
    if (last := jobs_of(control).last()) and not last.is_over:
        raise JobError(f"It is being asked: job {last.pk} is {last.get_state_display()}.")
    stored = StoredPrompt.objects.in_bulk(first.prompts.values(), field_name="sha256")
    prompts = PromptSet(str(first), {name: stored[hashed].text for name, hashed in first.prompts.items()})
    of_judge = Condition.with_controls.filter(judge=first.judge_id, is_control=True)
    number = passes_of(control).count() + 1
    condition = Condition(
        campaign=study.campaign,
        name=f"{study} #{number}",
        kind=first.kind,
        method=first.method,
        nuggets=first.nuggets,
        of_passages=first.of_passages,
        judge=first.judge,
        prompts=first.prompts,
        # Above all others: of two with one number the second would be answered from the ledger.
        replicate=max(MOST_REPLICATES, of_judge.aggregate(last=Max("replicate"))["last"] or 0) + 1,
        sample=study.name,
        is_control=True,
        protocol=first.protocol,
    )
    topics = list(topics_of(study))
    assert first.judge is not None, "a judge gave the labels"
    return Plan(kind, condition, first.judge.model, prompts, topics, kind.expected(condition, topics, prompts))


@transaction.atomic
def ask(*, control: ControlSet, acting_user: Person | None, to_workers: bool = True) -> Job:
    """Ask a set again, under a condition and a replicate of its own. Raises JobError."""
    # One after the other: a judge's replicates are numbered over all of its sets.
    Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=control.study.campaign_id)
    present = control_sets_of(control.study.campaign).get(pk=control.pk)
    return launch(
        plan_pass(present),
        most_calls=present.most_calls,
        most_cost=present.most_cost,
        acting_user=acting_user,
        to_workers=to_workers,
    )


def ask_those_due(now: datetime | None = None) -> None:
    """Check what was asked and not checked yet, then ask each set whose time has come, or whose judge has changed.

    What can't be asked now, such as while nuggets are being edited, is tried again with the next look.
    """
    now = now or timezone.now()
    done = Job.objects.filter(condition__is_control=True, state=Job.State.DONE)
    for job in done.exclude(condition__in=ControlCheck.objects.values("condition")).order_by("pk"):
        try:
            check(job)
        except Exception:  # one set that can't be checked hides no other's drift
            _log.exception("the control set of job %s was not checked", job.pk)
    for control in ControlSet.objects.exclude(every_days=None).select_related("study__campaign", "study__first"):
        if _is_due(control, now):
            try:
                ask(control=control, acting_user=None)
            except JobError:
                continue


def _is_due(control: ControlSet, now: datetime) -> bool:
    """Say whether a set is to be asked; the first time, somebody who has seen the cost does."""
    last = jobs_of(control).last()
    if last is None or not last.is_over or control.every_days is None:
        return False
    return now >= last.created_at + timedelta(days=control.every_days) or _has_new_model(control, last.created_at)


def _has_new_model(control: ControlSet, since: datetime) -> bool:
    """Say whether the endpoint names a model, or a fingerprint, that answered in no pass."""
    work = Job.objects.filter(judge__judge=control.study.first.judge_id, condition__is_control=False)
    recent = work.filter(Q(ended_at=None) | Q(ended_at__gt=since)).order_by().values_list("pk", flat=True)
    answered = Call.objects.filter(outcome=Call.Outcome.GOOD, model__gt="")
    newest = answered.filter(job__in=list(recent), at__gt=since).order_by("-at", "-pk").first()
    if newest is None:
        return False
    known = answered.filter(job__in=list(jobs_of(control).values_list("pk", flat=True)), model=newest.model)
    if fingerprint := json.loads(newest.response).get("system_fingerprint"):
        known = known.filter(response__contains=json.dumps(fingerprint))
    return not known.exists()


def check_job(job: Job, **kwargs: Any) -> None:
    """Check a control set at once when the job that asked it is done."""
    if job.state == Job.State.DONE and job.condition.is_control:
        check(job)


def check(job: Job) -> ControlCheck | None:
    """Compare the labels of a pass with the first ones, once its job is done; at an alarm, stop the judge's jobs.

    None where that was done before.
    """
    checks = ControlCheck.objects.filter(condition=job.condition_id)
    if checks.exists():
        return None
    condition = Condition.with_controls.get(pk=job.condition_id)
    control = control_sets_of(job.campaign).get(study__name=condition.sample)
    found = _drift(control, condition)
    answered = Call.objects.filter(job__condition=condition, model__gt="")
    names = answered.order_by("model").values_list("model", flat=True).distinct()
    with transaction.atomic():
        ControlSet.objects.select_for_update(no_key=True, of=("self",)).get(pk=control.pk)
        if checks.exists():  # another process did it meanwhile
            return None
        made = ControlCheck.objects.create(
            control=control,
            condition=condition,
            model=", ".join(names)[:500],
            cells=found.cells,
            labels=found.labels,
            flips=found.flips,
            expected=found.expected,
            kappa=found.kappa.value,
            p=found.p,
            is_alarm=found.is_alarm,
        )
        verb = "control set alarmed" if made.is_alarm else "control set checked"
        history.record(
            verb, control, campaign=job.campaign, person=None, labels=made.labels, flips=made.flips, p=made.p
        )
        if made.is_alarm and control.halts_jobs:
            _halt_jobs(made)
    return made


def _drift(control: ControlSet, condition: Condition) -> Drift:
    """Compare a pass with the first labels and with the first passes that raised no alarm."""
    kind = label_kind(control.study.kind)
    drawn = list(control.study.drawn.order_by("pk"))
    quiet = control.checks.filter(is_alarm=False).order_by("pk").values_list("condition", flat=True)[:PASSES]
    earlier = list(quiet)
    said = sampling_of(kind.name).labels_of(dict.fromkeys((condition.pk, *earlier), drawn))
    place = {label: at for at, label in enumerate(kind.labels)}

    def codes(of: int) -> list[int]:
        return [place.get(said[of].get(one.pk, ""), NO_VALUE) for one in drawn]

    by_item = sampling_of(kind.name).is_asked_one_by_one
    return find_drift(
        [place[one.first_label] for one in drawn],
        codes(condition.pk),
        [codes(pk) for pk in earlier],
        [one.pk if by_item else one.answer_id for one in drawn],
    )


def _halt_jobs(check: ControlCheck) -> None:
    """Stop the judge's jobs that are at work or wait for a worker; those of control sets go on."""
    study = check.control.study
    message = (
        f"The control set {study} raised an alarm: {check.flips:,} of {check.labels:,} labels differ from the first "
        f"ones, {check.expected:.3g} did before. Look at the set before you resume."
    )
    work = Job.objects.filter(judge__judge=study.first.judge_id, state__in=Job.ACTIVE, condition__is_control=False)
    for pk in work.order_by("pk").values_list("pk", flat=True):
        runner.halt(pk, message)


def refuse_beside_alarm(sender: type[Job], condition: Condition, **kwargs: Any) -> None:
    """Raise JobError where an alarm of the judge stands that stops its jobs; control sets are asked all the same."""
    if condition.is_control:
        return
    for check in standing_alarms(condition.campaign):
        control = check.control
        if control.halts_jobs and control.study.first.judge_id == condition.judge_id:
            raise JobError(
                f"The alarm of the control set {control} stands: {check.flips:,} of {check.labels:,} labels of "
                f"{condition.judge} differ from the first ones. Ask the set once more: if that raises no alarm, launch "
                "the job then. Else name the model's exact version in a new judge, or let the set stop no jobs."
            )


def standing_alarms(campaign: Campaign) -> list[ControlCheck]:
    """Return the alarms of the newest passes; of several sets of one condition, the newest counts."""
    sets = sorted(control_sets_of(campaign), key=lambda one: (one.study.first_id, one.pk))
    newest = [list(of_one)[-1] for _, of_one in groupby(sets, key=lambda one: one.study.first_id)]
    last = ControlCheck.objects.filter(control__in=newest).order_by().values("control").annotate(last=Max("pk"))
    alarms = ControlCheck.objects.filter(pk__in=last.values("last"), is_alarm=True)
    return list(alarms.select_related("control__study__first__judge", "condition").order_by("pk"))
