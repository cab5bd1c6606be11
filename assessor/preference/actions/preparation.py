"""Conditions under which people compare answers, and the pairs that they are given."""

import random
from collections.abc import Iterable

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.labels.manual_setups import asked_again, create_first, drawn_by, require_right_person
from assessor.labels.models import ManualSetup
from assessor.preference.actions.pairs import write_pairs
from assessor.preference.label_kind import MANUAL, PREFERENCE
from assessor.preference.models import PreferencePair
from assessor.preference.queries import OPEN, NewPair, asked_pairs, in_scope, new_pairs
from assessor.work import allocation
from assessor.work.actions import NotYet, PlanError
from assessor.work.judging_pool import Moved, judged_under
from assessor.work.models import Task


def create_preference(*, campaign: Campaign, name: str, acting_user: Person | None) -> Condition:
    """Make a condition in which people compare answers. Raises ConditionError."""
    condition = Condition(campaign=campaign, name=name, kind=PREFERENCE.name, method=MANUAL)
    return create_first(condition, acting_user=acting_user)


def prepare_pairs(task: Task) -> None:
    """Make the pairs that a task's person will compare, and take over what another one left. Raises PlanError."""
    condition, topic = task.condition, task.topic
    setup = ManualSetup.objects.select_related("of").filter(condition=condition).first()
    if setup is None:
        raise PlanError(f"Nobody can be given {condition}: it is not done by people on a screen.")
    require_right_person(task, setup, PreferencePair.objects.filter(topic=topic, by_rule=False))
    _take_over(task)
    new = _lacking(condition, topic, setup)
    # Shuffled, so that neither their places nor their keys tell which answers are of one run.
    allocation.order(setup.seed, task).shuffle(new)
    write_pairs(condition, [topic], _in_drawn_order(task, setup, new), task)
    # What somebody else has compared stays theirs: the topic can still be signed off.
    if not asked_pairs(condition, topic).exists():
        raise NotYet(f"There are no two answers to compare on {topic.qid} under {condition}.")
    count(task)


def renew_pairs(task: Task) -> None:
    """Add what came since to a task that is given again, and open it if something is to be done. Raises PlanError."""
    prepare_pairs(task)
    task.refresh_from_db(fields=["state", "done", "total"])


def _take_over(task: Task) -> None:
    """Make a task's what somebody else was given before and has not done; their flags and the like are taken back.

    Pairs that they have compared stay theirs, and count.
    """
    left = PreferencePair.objects.filter(OPEN, condition=task.condition, topic=task.topic, by_rule=False)
    left = left.exclude(task=task).order_by("pk").select_for_update(no_key=True, of=("self",))
    judge = judge_of(task.person)
    for pair in left:
        nothing = {pair.item: dict.fromkeys(pair.SAID)}
        pair.revise(
            "handed over",
            nothing,
            judge_id=judge.pk,
            task_id=task.pk,
            columns={"task_id": task.pk, "put_off": 0},
        )


def _lacking(condition: Condition, topic: Topic, setup: ManualSetup) -> list[NewPair]:
    """Return the pairs that a topic lacks."""
    return _compared_again(condition, topic, setup) if setup.of else list(new_pairs(condition, [topic]))


def _compared_again(condition: Condition, topic: Topic, setup: ManualSetup) -> list[NewPair]:
    """Return the pairs that a topic lacks of those that a first person was asked about; with all, those by rule too.

    Those of runs that were dropped are neither wanted nor counted.
    """
    known = PreferencePair.objects.filter(condition=condition, topic=topic)
    there, judged = set(known.values_list("first", "second")), judged_under(condition)
    firsts = in_scope(PreferencePair.objects.filter(condition=setup.of, topic=topic))
    of_runs = firsts.select_related("first__run", "second__run").order_by("position")
    compared = [one for one in of_runs if all(judged.holds(topic.pk, answer.run_id) for answer in one.answers)]
    again = [one for one in compared if not one.by_rule and asked_again(setup, one, [one.item])]
    wanted = drawn_by(setup, topic, again, lambda one: f"{one.first.run.tag} {one.second.run.tag}")
    new = [one for one in wanted if (one.first_id, one.second_id) not in there]
    if setup.share < 100:
        # A new pair changes what is drawn.
        new = new[: max(0, len(wanted) - in_scope(known).filter(by_rule=False).count())]
    elif not setup.only_unjudgeable:
        # Or they would be missing in the scores.
        new += [one for one in compared if one.by_rule and (one.first_id, one.second_id) not in there]
    return [NewPair(topic.pk, one.first_id, one.second_id, False, one.value if one.by_rule else None, 0) for one in new]


def _in_drawn_order(task: Task, setup: ManualSetup, pairs: Iterable[NewPair]) -> list[NewPair]:
    """Return pairs, each with the order drawn in which its answers are shown: by names and a seed that nobody knows."""
    new = list(pairs)
    tags = dict(Answer.objects.filter(pk__in={pk for one in new for pk in one[1:3]}).values_list("pk", "run__tag"))
    of_task = (setup.seed, task.campaign.name, task.condition.name, task.topic.qid, task.person.username)

    def second_stands_first(pair: NewPair) -> bool:
        seed = " ".join(map(str, (*of_task, tags[pair.first], tags[pair.second])))
        return random.Random(seed).random() < 0.5  # noqa: S311  # an order, no secret

    return [one._replace(second_stood_first=second_stands_first(one)) for one in new]


def follow_scope(condition: Condition, topic: Topic) -> Moved:
    """Count a topic's tasks anew, and say whether people are to be asked for pairs of runs that came back.

    Pairs bear no mark: whoever reads them asks which runs are dropped.
    """
    allocation.count_all(condition, topic, count)
    setup = ManualSetup.objects.select_related("of").filter(condition=condition).first()
    lacking = _lacking(condition, topic, setup) if setup else []
    if setup and not setup.of:
        # One run less changes which others are compared: that alone asks nobody anew.
        there = PreferencePair.objects.filter(condition=condition, topic=topic).values_list("first", "second")
        paired = {answer for pair in there for answer in pair}
        lacking = [one for one in lacking if not {one.first, one.second} <= paired]
    return Moved(0, len(lacking))


def count(task: Task) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again."""
    allocation.count(task, _done_of_all, "preference opened again")


def _done_of_all(task: Task) -> tuple[int, int]:
    asked = asked_pairs(task.condition, task.topic)
    return asked.exclude(OPEN).count(), asked.count()
