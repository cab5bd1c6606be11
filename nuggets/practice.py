"""Nuggets of topics for practice, and those of the reference."""

from collections.abc import Sequence

from assessor.labels.practice import Against, Item, Items
from assessor.work.models import Task
from nuggets.models import BankEdition, NuggetBank


def practice_items(tasks: Sequence[Task], against: Against) -> Items:
    """Return the person's nuggets, then those of the reference: nobody can say which of them are the same."""
    of_condition = {reference.reference_id for reference in against.values()}
    topics = {task.topic_id for task in tasks}
    finished = NuggetBank.objects.filter(condition__in=of_condition, topic__in=topics)
    finished = finished.filter(state=NuggetBank.State.FINISHED).order_by("finished_at", "pk")
    theirs = {(bank.condition_id, bank.topic_id): bank for bank in finished}
    mine = {bank.task_id: bank for bank in NuggetBank.objects.filter(task__in=tasks)}
    banks = {bank.pk: bank for bank in (*theirs.values(), *mine.values())}
    nuggets = {
        edition.bank_id: edition.nuggets
        for edition in BankEdition.objects.filter(bank__in=banks)
        if edition.edition == banks[edition.bank_id].edition
    }
    items: Items = {}
    for task in tasks:
        own = nuggets.get(mine[task.pk].pk, []) if task.pk in mine else []
        reference = theirs.get((against[task.condition_id].reference_id or 0, task.topic_id))
        others = nuggets.get(reference.pk, []) if reference else []
        items[task.pk] = [Item(None, one["uid"], one["text"], one["importance"] or "not set", "") for one in own]
        items[task.pk] += [Item(None, one["uid"], one["text"], "", one["importance"] or "not set") for one in others]
    return items
