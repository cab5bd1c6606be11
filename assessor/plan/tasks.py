"""Background work on the plan: keys in. The database says what is to be given; a message is only a hint to look."""

from celery import shared_task

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.plan.models import NOT_TRIED, Planned
from assessor.runtime.commits import after_commit
from assessor.runtime.connections import AWAY
from assessor.runtime.hints import is_full
from assessor.runtime.workers import at_start_and_after_deaths

BROKE_OFF = "Giving it broke off, and the log says why. Check again."


@shared_task
def give_planned(campaign_id: int, person_id: int | None) -> None:
    """Give what was planned a moment ago. Nothing is given twice where several do it at once, or one does it again.

    person_id: who planned it. What goes wrong is not repeated for ever: it waits until somebody looks at the plan.
    """
    from assessor.plan.actions import carry_out

    campaign = Campaign.objects.get(pk=campaign_id)
    person = Person.objects.get(pk=person_id) if person_id else None
    waiting = Planned.objects.filter(condition__campaign=campaign, waits_for=NOT_TRIED)
    if not waiting.exists():
        return
    try:
        carry_out(campaign, acting_user=person)
    except AWAY:
        raise
    except Exception:
        waiting.update(waits_for=BROKE_OFF)
        raise


def hint(campaign: Campaign, person: Person | None) -> None:
    """Tell the workers, once it is committed. Should the queue be gone, the next look finds what was not tried."""
    after_commit(give_planned.delay, campaign.pk, person and person.pk)


@shared_task
def take_up_plans() -> None:
    """Send hints for all that nobody has tried to give yet."""
    untried = Planned.objects.filter(waits_for=NOT_TRIED).order_by("condition__campaign", "created_by")
    for campaign, person in untried.values_list("condition__campaign", "created_by").distinct():
        if not is_full("celery"):
            give_planned.delay(campaign, person)


at_start_and_after_deaths(take_up_plans)
