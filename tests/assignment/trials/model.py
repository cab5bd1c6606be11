"""A nugget that was tried, without a job: for tests that only look at the records."""

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import Answer, Condition, Judge
from assignment.trials.condition_kind import AUTO, TRIALS
from assignment.trials.models import NuggetTrial, TrialLabel, TrialSetting
from nuggets.models import NuggetBank


def try_on(bank: NuggetBank) -> TrialLabel:
    """Keep that the first nugget of a bank was tried, and is in the first answer to its topic."""
    judge = Judge.objects.create(kind="model", name="judge of trials")
    of = {"campaign": bank.condition.campaign, "kind": TRIALS.name, "method": AUTO, "judge": judge}
    condition = create_condition(Condition(name="Tried", nuggets=bank.condition, **of), acting_user=None)
    TrialSetting.objects.create(condition=condition, is_on=True, most_calls=10)
    person = bank.task.person if bank.task else Person.objects.earliest("pk")
    nugget = bank.nuggets.earliest("pk")
    trial = NuggetTrial.objects.create(condition=condition, nugget=nugget, text=nugget.text, person=person)
    answer = Answer.objects.filter(topic=bank.topic, apart=False, run__task="").earliest("pk")
    return TrialLabel.objects.create(trial=trial, answer=answer, value="support")
