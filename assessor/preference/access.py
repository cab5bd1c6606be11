"""The only way to pairs for a person.

An assessor's pairs are read through their own task and never by answer or run, and none but their own.
"""

from typing import NamedTuple

from assessor.accounts.models import Person
from assessor.labels.access import own_labelling
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.models import PreferencePair
from assessor.preference.queries import own_pairs
from assessor.work.access import NotAmongOwn, organized_task
from assessor.work.models import Task


class OwnPair(NamedTuple):
    """A pair of the person who asks, with its task. is_asked: both answers are judged still."""

    sheet: PreferencePair
    task: Task
    is_asked: bool


def own_comparing(person: Person, task_id: int) -> Task:
    """Return a person's own task of comparing answers. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    return own_labelling(person, task_id, [PREFERENCE.name], "answers")


def own_pair(person: Person, task_id: int, pair_id: int) -> OwnPair:
    """Return a pair of a person's own task. Raises as above, and NotAmongOwn where it isn't the task's."""
    task = own_comparing(person, task_id)
    pair = PreferencePair.objects.filter(pk=pair_id, task=task, condition=task.condition_id).first()
    if pair is None:
        raise NotAmongOwn("These answers are not, or no longer, among those that you have to compare here.")
    return OwnPair(pair, task, own_pairs(task).filter(pk=pair_id).exists())


def organized_comparing(person: Person, task_id: int) -> Task:
    """Return somebody else's task of comparing answers in a campaign that the person organizes. Raises Http404."""
    return organized_task(person, task_id, [PREFERENCE.name], "answers", "condition__judge")
