"""Nuggets in answers on topics for practice, beside the reference."""

from collections.abc import Sequence

from assessor.labels.practice import Against, Items, items_of_answers
from assessor.work.models import Task
from assignment.label_kind import kind_of_nuggets
from assignment.models import AnswerSheet
from assignment.shown_labels import openable
from nuggets.models import BankEdition
from nuggets.queries import with_keys


def practice_items(tasks: Sequence[Task], against: Against) -> Items:
    """Return what people said on tasks of practice, all of one kind; against: by condition's key."""
    asked_of = openable(AnswerSheet.objects.filter(task__in=tasks, by_rule=False))
    mine = AnswerSheet.with_items(asked_of.order_by("task", "place", "pk"))
    editions = with_keys(BankEdition.objects.filter(bank__in={sheet.bank_id for sheet in mine}))
    nuggets = {(edition.bank_id, edition.edition): edition.nuggets for edition in editions}

    def asked(sheet: AnswerSheet) -> list[tuple[str, str]]:
        of_edition = nuggets[sheet.bank_id, sheet.edition]
        return [
            (str(nugget["id"]), nugget["text"])
            for nugget in of_edition
            if sheet.asked is None or nugget["id"] in sheet.asked
        ]

    return items_of_answers(tasks, against, mine, kind_of_nuggets(tasks[0]).labels, asked)
