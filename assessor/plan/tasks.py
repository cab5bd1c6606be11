"""Background work on the plan: keys in. The database says what is to be given; a message is only a hint to look."""

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.celery import app
from assessor.plan.actions import carry_out
from assessor.plan.models import NOT_TRIED, Planned
from assessor.runtime.connections import AWAY
from assessor.runtime.hints import is_full
from assessor.runtime.workers import at_start_and_after_deaths

BROKE_OFF = "Giving it broke off, and the log says why. Check again."


@app.task
def give_planned(campaign_id: int, person_id: int | None) -> None:
    """Give what was planned a moment ago. Nothing is given twice where several do it at once, or one does it again.

    person_id: who planned it. What goes wrong is not repeated for ever: it waits until somebody looks at the plan.
    """
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


@app.task
def take_up_plans() -> None:
    """Send hints for all that nobody has tried to give yet."""
    untried = Planned.objects.filter(waits_for=NOT_TRIED).order_by("condition__campaign", "created_by")
    for campaign, person in untried.values_list("condition__campaign", "created_by").distinct():
        if not is_full("celery"):
            give_planned.delay(campaign, person)


at_start_and_after_deaths(take_up_plans)
