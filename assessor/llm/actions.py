"""The writers of judges and jobs."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history, signals
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Campaign, Condition, Judge, QrelsSource, RetrievalRun, Topic
from assessor.campaigns.queries import among
from assessor.llm.job_kind import Expected, Grades, JobKind
from assessor.llm.models import LEAST_MONEY, Batch, CampaignPromptSet, Job, ModelJudge, StoredPrompt, Trial, Unit
from assessor.llm.preparation import prepare
from assessor.llm.prompt_sets import OWN, checked_set, names, prompt_set
from assessor.llm.prompt_templates import Template
from assessor.llm.prompts import PromptSet, PromptSetError, sha256_of
from assessor.llm.queries import errors_of
from assessor.llm.signals import job_launching
from assessor.runtime import hints
from assessor.runtime.clock import shared_now
from assessor.runtime.commits import after_commit

_LONGEST_NAME = 120  # characters, as conditions have it
MOST_REPLICATES = 1_000  # those above are control sets', whose answers no other condition may take from the ledger


class JobError(Exception):
    """There can be no such job, or this can't be done with it now; the text says why."""


@transaction.atomic
def create_judge(
    *, campaign: Campaign, name: str, parameters: dict[str, Any], settings: dict[str, Any], acting_user: Person | None
) -> ModelJudge:
    """Make a model a judge of a campaign. Raises ValidationError.

    parameters decide its answers and never change (see gateway.request_body); settings are fields of ModelJudge.
    """
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)  # one name at a time
    if ModelJudge.objects.filter(campaign=campaign, judge__name=name).exists():
        taken = f"The campaign has a judge called {name} already. Choose another name."
        raise ValidationError({"name": taken})
    judge = Judge(kind=Judge.Kind.MODEL, name=name, parameters=parameters)
    judge.full_clean()
    judge.save()
    model = ModelJudge(judge=judge, campaign=campaign, **settings)
    model.full_clean()
    model.save()
    history.record("judge created", judge, campaign=campaign, person=acting_user, parameters=parameters)
    return model


@transaction.atomic
def change_judge(*, judge: ModelJudge, settings: dict[str, Any], acting_user: Person | None) -> None:
    """Change how a judge is reached and how hard. Raises ValidationError."""
    locked = ModelJudge.objects.select_for_update().get(pk=judge.pk)
    changed = {name: value for name, value in settings.items() if getattr(locked, name) != value}
    before = {name: str(getattr(locked, name)) for name in changed}
    for name, value in changed.items():
        setattr(locked, name, value)
    locked.full_clean()
    locked.save(update_fields=list(changed))
    if changed:
        Trial.objects.filter(judge=judge, place=None).delete()  # it was of the judge as it was
        after = {name: str(value) for name, value in changed.items()}
        history.record("judge changed", judge, campaign=judge.campaign, person=acting_user, before=before, after=after)


@transaction.atomic
def try_judge(*, judge: ModelJudge, acting_user: Person) -> None:
    """Have a worker send a judge one small request, unless one is on its way. Raises JobError."""
    ModelJudge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    if any(trial.is_open for trial in Trial.objects.filter(judge=judge)):
        return
    Trial.objects.filter(judge=judge).delete()
    Trial.overdue().update(place=None)
    for place in Trial.PLACES:
        try:
            with transaction.atomic():
                trial = Trial.objects.create(judge=judge, place=place, created_by=acting_user)
        except IntegrityError:
            continue
        after_commit(hint_trial, trial.pk)
        return
    raise JobError("Two judges are being tried at the moment. Try this one when they are done, in two minutes at most.")


def hint_trial(trial_id: int) -> None:
    """Tell all workers of a trial: jobs take hours and imports minutes, and whoever is free first takes it up."""
    from assessor.llm.tasks import carry_out_trial  # not before one is sent: see hints.send()

    for queue in ("celery", "jobs"):
        carry_out_trial.apply_async((trial_id,), queue=queue, expires=Trial.TAKEN_UP_WITHIN.total_seconds())


@transaction.atomic
def create_prompt_set(
    *, campaign: Campaign, name: str, templates: Sequence[Template], acting_user: Person | None
) -> PromptSet:
    """Make published templates a prompt set of a campaign; what they lack comes from the project's own set.

    Without a name it is called by its content. One of this name and content is there already: nothing is written.
    Raises PromptSetError.
    """
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    own = prompt_set(OWN)
    given = {template.prompt: template for template in templates}
    texts = own.texts | {prompt: template.text for prompt, template in given.items()}
    hashes = {prompt: sha256_of(text) for prompt, text in texts.items()}
    content = "".join(f"{prompt} {hashes[prompt]}\n" for prompt in sorted(hashes))
    made = checked_set(name or f"published-{sha256_of(content)[:8]}", texts)
    if made.name in names(campaign):
        if prompt_set(made.name, campaign).texts == texts:
            return made
        raise PromptSetError(f"There is another prompt set called {made.name}. Choose another name.")
    record = CampaignPromptSet(campaign=campaign, name=made.name, texts=texts, created_by=acting_user)
    record.provenance = {
        prompt: {"file": given[prompt].file, "sha256": given[prompt].sha256, "method": given[prompt].method}
        if prompt in given
        else {"prompt_set": own.name, "sha256": hashes[prompt]}
        for prompt in texts
    }
    try:
        record.full_clean()
    except ValidationError as error:
        raise PromptSetError(" ".join(error.messages)) from error
    record.save()
    details = {"sha256": hashes, "provenance": record.provenance}
    history.record("prompts imported", made.name, campaign=campaign, person=acting_user, **details)
    return made


class Plan(NamedTuple):
    """A job before its launch, with what it will take. condition: not saved yet where it is new."""

    kind: JobKind
    condition: Condition
    judge: ModelJudge
    prompts: PromptSet
    topics: Sequence[Topic]
    expected: Expected
    mode: Job.Mode = Job.Mode.LIVE

    @property
    def estimate(self) -> dict[str, Any]:
        """Calls, tokens and cost: four characters are about a token."""
        tokens_in = self.expected.characters // 4
        cost = self.judge.cost(tokens_in, self.expected.tokens_out, in_batch=self.mode != Job.Mode.LIVE)
        return {
            "calls": self.expected.calls,
            "tokens_in": tokens_in,
            "tokens_out": self.expected.tokens_out,
            "cost": str(cost.quantize(Decimal("0.0001"))),
        }


def plan_job(
    *,
    kind: JobKind,
    judge: ModelJudge,
    name: str,
    qrels_source: QrelsSource | None,
    topics: Sequence[Topic],
    nuggets: Condition | None = None,
    other_nuggets: Condition | None = None,
    support: Condition | None = None,
    preferences: Condition | None = None,
    retrieval_run: RetrievalRun | None = None,
    min_relevant_grade: int | None = None,
    replicate: int = 0,
    sample: str = "",
    variant: Mapping[str, Any] | None = None,
    mode: Job.Mode = Job.Mode.LIVE,
) -> Plan:
    """Say what a job would do and take; nothing is written. Raises JobError.

    Where the campaign has the condition already, the job continues it with what is not done yet. Without a name a
    new one is called by what is made and by whom. min_relevant_grade: without one, the protocol's. sample: the name of
    the study whose sample alone is to be labelled. variant: as Condition has it, of a sensitivity study.
    """
    if not topics:
        raise JobError("Select at least one topic.")
    if replicate > MOST_REPLICATES:
        raise JobError(f"Choose a repetition up to {MOST_REPLICATES:,}.")
    condition, prompts = find_condition(
        kind=kind,
        judge=judge,
        name=name,
        qrels_source=qrels_source,
        nuggets=nuggets,
        other_nuggets=other_nuggets,
        support=support,
        preferences=preferences,
        retrieval_run=retrieval_run,
        min_relevant_grade=min_relevant_grade,
        replicate=replicate,
        sample=sample,
        variant=variant,
    )
    if condition.pk:
        with transaction.atomic():
            _refuse_beside_another(condition)
    return Plan(kind, condition, judge, prompts, topics, kind.expected(condition, topics, prompts), mode)


def find_condition(
    *,
    kind: JobKind,
    judge: ModelJudge,
    name: str,
    qrels_source: QrelsSource | None,
    nuggets: Condition | None,
    min_relevant_grade: int | None,
    replicate: int,
    sample: str = "",
    other_nuggets: Condition | None = None,
    support: Condition | None = None,
    variant: Mapping[str, Any] | None = None,
    preferences: Condition | None = None,
    retrieval_run: RetrievalRun | None = None,
) -> tuple[Condition, PromptSet]:
    """Return the condition of such a job, not saved where the campaign has none, and its prompts. Raises JobError.

    retrieval_run: where the kind takes one, it goes before grades. Prompts: those of the variant, or the judge's.
    """
    variant = dict(variant or {})
    retrieval_run = retrieval_run if kind.takes_rankings else None
    if kind.grades == Grades.NONE or retrieval_run:
        qrels_source = min_relevant_grade = None
    elif qrels_source is None:
        raise JobError(f"{kind.name} needs relevance grades: name their source.")
    if kind.grades == Grades.PEOPLES and qrels_source and qrels_source.by != QrelsSource.By.PEOPLE:
        raise JobError(f"{kind.name} takes people's grades only; those of {qrels_source} are a model's.")
    if kind.builds_on and nuggets is None:
        raise JobError(f"{kind.name} needs {kind.nuggets_called}: name their condition.")
    nuggets = nuggets if kind.builds_on else None
    if nuggets and (misfit := kind_named(kind.condition_kind).misfit(nuggets)):
        raise JobError(misfit)
    other_nuggets = other_nuggets if kind.matches_banks else None
    if kind.matches_banks and (misfit := kind_named(kind.condition_kind).misfit_of_other(nuggets, other_nuggets)):
        raise JobError(misfit)
    support = support if kind.support else None
    if kind.support and (misfit := kind_named(kind.condition_kind).misfit_of_support(support)):
        raise JobError(misfit)
    preferences = preferences if kind.preferences else None
    if kind.preferences and (preferences is None or preferences.kind != kind.preferences):
        raise JobError(f"{kind.name} needs a condition of the kind {kind.preferences}: name one.")
    try:
        prompts = prompt_set(variant.get("prompt_set", judge.prompt_set), judge.campaign)
        prompts.require(kind.prompts, f"a job of the kind {kind.name}")
    except PromptSetError as error:
        raise JobError(str(error)) from error
    condition = Condition(
        campaign=judge.campaign,
        kind=kind.condition_kind,
        method=kind.method,
        qrels_source=qrels_source,
        retrieval_run=retrieval_run,
        min_relevant_grade=min_relevant_grade,
        nuggets=nuggets,
        other_nuggets=other_nuggets,
        support=support,
        preferences=preferences,
        of_passages=kind.of_passages,
        judge=judge.judge,
        prompts=prompts.hashes(kind.prompts),
        replicate=replicate,
        sample=sample,
        variant=variant,
        protocol=judge.campaign.protocol,
    )
    condition.name = name or _usual_name(kind.called(condition), judge, condition)
    known = Condition.objects.filter(campaign=judge.campaign, identity=condition.describe()).first()
    return known or condition, prompts


def _usual_name(made: str, judge: ModelJudge, condition: Condition) -> str:
    """Return the name of a condition that nobody named, such as "Nuggets by gpt on NIST, relevant from 2 #2".

    Where a job takes people's grades and models', the name says which, also of what builds on it; and from which grade
    on passages are relevant, where that is not the protocol's.
    """
    creation = condition.nuggets or condition
    basis = creation.qrels_source or creation.preferences
    grades = f" on {basis}" if creation.is_drafted and not creation.is_by_people else ""
    sample = f" #{condition.replicate}" if condition.replicate else ""
    end = grades[: _LONGEST_NAME // 2] + creation.threshold_in_name + sample
    return f"{made} by {judge}"[: _LONGEST_NAME - len(end)] + end


def launch(
    plan: Plan,
    *,
    most_calls: int | None,
    most_cost: Decimal | None,
    acting_user: Person | None,
    to_workers: bool = True,
) -> Job:
    """Make the condition where it is new, and the job with all of its units. Raises JobError.

    Where it is killed, workers make the units that are left.
    """
    is_new = not plan.condition.pk
    with transaction.atomic():
        job = _make_job(plan, most_calls=most_calls, most_cost=most_cost, acting_user=acting_user)
        prepared = prepare(job)
        # A new condition under which there is nothing to do is not made.
        found = next(filter(None, prepared), 0) if is_new else 0
        if is_new and not found:
            raise _nothing_to_do(job)
    found += sum(prepared)
    if not found:
        Job.objects.filter(pk=job.pk, state=Job.State.WAITING, units_total=0, topics_left=[]).delete()
        raise _nothing_to_do(job)
    job.refresh_from_db(fields=["state", "units_total", "topics_left"])
    if to_workers:
        after_commit(hint, job.pk)
    return job


def hint(job_id: int, processes: int | None = None) -> None:
    """Tell so many processes of a job, else as many as may work on it."""
    for _ in range(processes or settings.RUNNERS_PER_JOB):
        hints.send("assessor.llm.tasks.work_on_job", job_id)


def _nothing_to_do(job: Job) -> JobError:
    return JobError(f"There is nothing to do: all of it is done under {job.condition}.")


def _make_job(plan: Plan, *, most_calls: int | None, most_cost: Decimal | None, acting_user: Person | None) -> Job:
    condition, campaign = plan.condition, plan.judge.campaign
    if (most_calls is not None and most_calls < 1) or (most_cost is not None and most_cost < LEAST_MONEY):
        raise JobError("A budget is more than nothing; without one there is no limit.")
    try:
        condition = (
            condition
            if condition.pk
            else create_condition(condition, acting_user=acting_user, protocol=condition.protocol)
        )
    except ConditionError as error:
        raise JobError(str(error)) from error
    _refuse_beside_another(condition)
    job_launching.send(Job, condition=condition)
    for prompt, sha256 in plan.prompts.hashes(plan.kind.prompts).items():
        StoredPrompt.objects.get_or_create(sha256=sha256, defaults={"text": plan.prompts.texts[prompt]})
    return Job.objects.create(
        campaign=campaign,
        kind=plan.kind.name,
        condition=condition,
        judge=plan.judge,
        mode=plan.mode,
        scope={"topics": len(plan.topics)},
        topics_left=[topic.qid for topic in plan.topics],
        estimate=plan.estimate,
        most_calls=most_calls,
        most_cost=most_cost,
        created_by=acting_user,
    )


@transaction.atomic
def pause(*, job: Job, acting_user: Person) -> None:
    """Let a job send nothing more until it is resumed; what is in flight comes back and is kept. Raises JobError."""
    _change_state(job, Job.ACTIVE, Job.State.PAUSED, "job paused", acting_user)


@transaction.atomic
def resume(*, job: Job, acting_user: Person | None) -> None:
    """Let a paused or halted job go on. Raises JobError."""
    if job.state == Job.State.HALTED:
        # What went wrong is mended, it is hoped: wrong answers of before are not taken from the ledger.
        begun = Unit.objects.filter(job=job, state=Unit.State.WAITING, attempts__gt=0)
        begun.update(round=F("round") + 1)
    _change_state(job, (Job.State.PAUSED, Job.State.HALTED), Job.State.WAITING, "job resumed", acting_user, message="")
    after_commit(hint, job.pk)


@transaction.atomic
def cancel(*, job: Job, acting_user: Person) -> None:
    """End a job for good; what is done stays. Raises JobError."""
    open_ones = (*Job.ACTIVE, Job.State.PAUSED, Job.State.HALTED)
    _change_state(job, open_ones, Job.State.CANCELLED, "job cancelled", acting_user, ended_at=timezone.now())
    signals.ended.send(Job, campaign_id=job.campaign_id, pks=[job.pk])


@transaction.atomic
def finish_live(*, job: Job, acting_user: Person) -> None:
    """Have what is left asked one by one: batches under way are cancelled, and what they answered is kept first.

    Raises JobError.
    """
    in_batches = Job.objects.filter(pk=job.pk, mode__in=(Job.Mode.BATCH, Job.Mode.FILES)).exclude(state__in=Job.OVER)
    if not in_batches.update(mode=Job.Mode.LIVE):
        raise JobError("The job sends nothing in batches.")
    job.batches.filter(is_carried=True, ended_at=None).update(state=Batch.State.DONE, ended_at=timezone.now())
    job.batches.filter(ended_at=None).update(look_at=shared_now())
    history.record("job goes on live", job.name, campaign=job.campaign, person=acting_user)
    after_commit(hint, job.pk)


@transaction.atomic
def retry_failed(*, job: Job, acting_user: Person | None, reason: str = "") -> int:
    """Have failed units done again, their wrong answers asked for anew; return how many. Raises JobError.

    reason: why those failed that are meant, as queries.reason_of() words it; without one, all are.
    """
    if job.state == Job.State.CANCELLED:
        raise JobError("The job was cancelled: launch another one for what is not done.")
    _refuse_beside_another(job.condition, than=job)
    failed = Unit.objects.filter(job=job, state=Unit.State.FAILED)
    if reason:
        failed = failed.filter(error__in=among(errors_of(job, reason)))
    count = failed.update(state=Unit.State.WAITING, round=F("round") + 1, error="", ended_at=None)
    if not count:
        raise JobError("No call of this job has failed.")
    jobs = Job.objects.filter(pk=job.pk)
    jobs.update(units_failed=F("units_failed") - count)
    jobs.filter(state=Job.State.DONE).update(state=Job.State.WAITING, ended_at=None)
    history.record("failed units retried", job.name, campaign=job.campaign, person=acting_user, units=count)
    after_commit(hint, job.pk)
    return count


@transaction.atomic
def change_budget(*, job: Job, most_calls: int | None, most_cost: Decimal | None, acting_user: Person) -> None:
    """Set what a job may spend in calls and in money; None: no limit. It holds from the next start on."""
    budget = {"most_calls": most_calls, "most_cost": most_cost}
    before = {name: str(getattr(job, name)) for name in budget}
    Job.objects.filter(pk=job.pk).update(**budget)
    after = {name: str(value) for name, value in budget.items()}
    history.record("budget changed", job.name, campaign=job.campaign, person=acting_user, before=before, after=after)


def _refuse_beside_another(condition: Condition, *, than: Job | None = None) -> None:
    """Raise JobError where another job works under a condition: two at once would both do its units."""
    Condition.with_controls.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    others = condition.jobs.exclude(state__in=Job.OVER)
    if other := (others.exclude(pk=than.pk) if than else others).first():
        raise JobError(f"Job {other.pk} works under {condition} and is {other.get_state_display()}.")


def _change_state(
    job: Job, of: Sequence[str], to: Job.State, verb: str, acting_user: Person | None, **fields: Any
) -> None:
    if not Job.objects.filter(pk=job.pk, state__in=of).update(state=to, **fields):
        job.refresh_from_db()
        raise JobError(f"The job is {job.get_state_display()} already.")
    history.record(verb, job.name, campaign=job.campaign, person=acting_user)
