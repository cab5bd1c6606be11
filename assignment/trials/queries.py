"""What trials of nuggets came to."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count, Max

from assessor.campaigns.models import Answer, Campaign, Condition
from assessor.campaigns.queries import answers_to
from assessor.llm.models import Job
from assignment.formats import LABELS
from assignment.trials.condition_kind import TRIALS
from assignment.trials.models import NuggetTrial, TrialLabel
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import nuggets_in_order


class Impact(NamedTuple):
    """What the last trial of a nugget came to so far, in runs that answered the topic.

    stated: runs whose answers state all of it; partly: a part; labelled: of which the model said anything; pairs: pairs
    of runs with different labels.
    """

    trial: NuggetTrial
    stated: int
    partly: int
    labelled: int
    answers: int
    pairs: int

    @property
    def is_done(self) -> bool:
        """Whether the model said something of all answers."""
        return self.labelled >= self.answers


class Tried(NamedTuple):
    """A nugget on the list, with its last trial."""

    nugget: Nugget
    impact: Impact | None

    @property
    def has_changed(self) -> bool:
        """Whether its text is another than the one that was tried."""
        return self.impact is not None and self.impact.trial.text != self.nugget.text


def tried(bank: NuggetBank, condition: Condition) -> list[Tried]:
    """Return the nuggets on a bank's list with their last trials, in a constant number of queries."""
    listed = nuggets_in_order(bank)
    last = NuggetTrial.objects.filter(condition=condition, nugget__in=listed).order_by().values("nugget")
    trials = NuggetTrial.objects.in_bulk([one["last"] for one in last.annotate(last=Max("pk"))])
    said: dict[int, Counter[str]] = {pk: Counter() for pk in trials}
    rows = TrialLabel.objects.filter(trial__in=trials).order_by().values_list("trial", "value")
    for trial, value, number in rows.annotate(Count("pk")):
        said[trial][value] = number
    answers = answers_to([bank.topic]).count()
    of_nugget = {one.nugget_id: _impact(one, said[one.pk], answers) for one in trials.values()}
    return [Tried(nugget, of_nugget.get(nugget.pk)) for nugget in listed]


def _impact(trial: NuggetTrial, said: Counter[str], answers: int) -> Impact:
    support, partial, _ = LABELS
    return Impact(trial, said[support], said[partial], said.total(), answers, pairs_apart(said.values()))


def pairs_apart(counts: Iterable[int]) -> int:
    """Return how many pairs of runs have different labels. counts: how many runs have each label."""
    runs = list(counts)
    return (sum(runs) ** 2 - sum(one**2 for one in runs)) // 2


def open_answers(trial: NuggetTrial) -> list[Answer]:
    """Return the answers of which nothing was said in a trial."""
    topic = trial.nugget.bank.topic
    return list(answers_to([topic]).exclude(pk__in=trial.labels.values("answer")).order_by("pk"))


def calls_left(condition: Condition) -> int:
    """Return how many calls the setting's budget leaves, with what jobs that are not over may still send."""
    spent = 0
    for job in condition.jobs.all():
        spent += max(job.calls, job.calls_begun) if job.is_over else max(job.calls_begun, job.units_total)
    return max(0, int(condition.trial_setting.most_calls) - spent)


def is_at_work(condition: Condition) -> bool:
    """Say whether a model is being asked."""
    return condition.jobs.filter(state__in=Job.ACTIVE).exists()


def trial_conditions(campaign: Campaign, nuggets: Condition) -> list[Condition]:
    """Return the conditions with a setting for trials of a condition's nuggets."""
    found = campaign.conditions.filter(kind=TRIALS.name, nuggets=nuggets, trial_setting__isnull=False)
    return list(found.select_related("trial_setting", "judge").order_by("name"))
