"""The writers of trials."""

from uuid import UUID

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition
from assessor.llm.actions import JobError, find_condition, launch, plan_job
from assessor.llm.models import ModelJudge
from assessor.work.blindness import record_exposure
from assignment.trials.access import may_try, setting_of
from assignment.trials.models import NuggetTrial, TrialSetting
from assignment.trials.queries import calls_left, is_at_work, open_answers
from assignment.trials.trial_job import TrialJob
from nuggets.models import NuggetBank


class TrialError(Exception):
    """Nuggets can't be tried so; the text says why, and what to do."""


@transaction.atomic
def set_trials(
    *, campaign: Campaign, nuggets: Condition, judge: ModelJudge | None, most_calls: int, acting_user: Person
) -> TrialSetting | None:
    """Let people who edit banks under a condition have nuggets tried by a judge, or by none. Raises TrialError.

    most_calls: of all trials that this judge was ever asked for there.
    """
    if not nuggets.edits_drafts:
        raise TrialError(f"Under {nuggets} nobody edits what a model drafted, so a model may not shape its nuggets.")
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=nuggets.pk)
    settings = TrialSetting.objects.filter(condition__nuggets=nuggets)
    settings.update(is_on=False)
    setting = None
    if judge:
        try:
            condition, _ = find_condition(
                kind=TrialJob(),
                judge=judge,
                name="",
                qrels_source=None,
                nuggets=nuggets,
                min_relevant_grade=None,
                replicate=0,
            )
            if not condition.pk:
                condition = create_condition(condition, acting_user=acting_user)
        except (JobError, ConditionError) as error:
            raise TrialError(str(error)) from error
        values = {"is_on": True, "most_calls": most_calls}
        setting, _ = TrialSetting.objects.update_or_create(condition=condition, defaults=values)
    told = {"judge": str(judge), "calls": most_calls} if judge else {"judge": ""}
    history.record("trials set", nuggets, campaign=campaign, person=acting_user, **told)
    return setting


@transaction.atomic
def try_nugget(*, bank: NuggetBank, uid: UUID, acting_user: Person, to_workers: bool = True) -> NuggetTrial:
    """Have a nugget tried as its text is now. Raises TrialError.

    A text that was tried already is not asked about again, unless answers lack a label.
    """
    setting = setting_of(bank)
    if setting is None or not may_try(acting_user, bank):
        raise TrialError("Nuggets of this bank can't be tried by you.")
    condition = setting.condition
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    nugget = bank.nuggets.filter(uid=uid).first()
    if nugget is None or str(nugget.uid) not in {str(one) for one in bank.order}:
        raise TrialError("This nugget is not on the list any more.")
    if is_at_work(condition):
        raise TrialError("Another nugget is being tried: try this one once that is done.")
    last: NuggetTrial | None = condition.trials.filter(nugget=nugget).order_by("-pk").first()
    if last and last.text == nugget.text and not open_answers(last):
        return last
    # Before anything can be shown.
    for kind in kind_of(condition).exposed_kinds(condition):
        record_exposure(acting_user, [bank.topic], kind, f"nugget tried under {condition.nuggets}"[:200])
    trial = NuggetTrial.objects.create(condition=condition, nugget=nugget, text=nugget.text, person=acting_user)
    try:
        assert condition.judge is not None
        plan = plan_job(
            kind=TrialJob(),
            judge=condition.judge.model,
            name="",
            qrels_source=None,
            nuggets=condition.nuggets,
            topics=[bank.topic],
        )
        if plan.condition != condition:
            raise TrialError("The judge or the protocol changed since: ask your organizer to save the setting again.")
        left = calls_left(condition)
        if plan.expected.calls > left:
            raise TrialError(
                f"This takes {plan.expected.calls:,} calls, and the budget has {left:,} left: ask your organizer."
            )
        launch(plan, most_calls=left, most_cost=None, acting_user=acting_user, to_workers=to_workers)
    except JobError as error:
        raise TrialError(str(error)) from error
    return trial
