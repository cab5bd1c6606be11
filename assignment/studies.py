"""What studies draw from the labels of answers: nuggets."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import F

from assessor.collection.models import Condition, Topic
from assessor.collection.queries import answers_to
from assessor.llm.questions import ASSIGNMENT
from assessor.studies.kinds import Key, Kind, Told
from assessor.studies.models import Drawn
from assessor.work.handing import new_seed
from assignment.models import AnswerSheet, Opinion, Revision
from assignment.queries import name_of
from nuggets.models import BankEdition, NuggetBank


class NuggetStudies(Kind):
    """Labels of nuggets; assessor.studies.kinds.Kind says what each function is for."""

    condition_kind = Condition.Kind.ASSIGNMENT.value
    labels = tuple(reversed(ASSIGNMENT))
    items = "nuggets"
    job = "AutoAssign"
    peoples_method = Condition.Method.MANUAL_ASSIGN.value
    opinions = Opinion

    def labels_on(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[Key, str]:
        banks = NuggetBank.objects.filter(condition=condition.nuggets_id, topic__in=topics)
        editions = BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition")).select_related("bank")
        # Of several banks on a topic the one that was finished last, as in scores.
        newest = {edition.bank.topic_id: edition.bank_id for edition in editions.order_by("pk")}
        # What follows from a rule alone is nobody's opinion.
        sheets = AnswerSheet.objects.filter(condition=condition, bank__in=newest.values(), by_rule=False)
        own = sheets.filter(answer__in=answers_to(topics)).order_by()
        return {
            (answer, nugget): label
            for answer, labels in own.values_list("answer", "labels")
            for nugget, label in labels.items()
            if label in ASSIGNMENT
        }

    def names(self, keys: Collection[Key]) -> Mapping[Key, str]:
        banks = NuggetBank.objects.filter(nuggets__in={int(nugget) for _, nugget in keys})
        names = _names(BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition")))
        return {key: names[key[1]] for key in keys}

    def labels_of(self, drawn: Mapping[int, Collection[Drawn]]) -> Mapping[int, Mapping[int, str]]:
        wanted = {(pk, one.answer_id, one.item): one.pk for pk, items in drawn.items() for one in items}
        found: dict[int, dict[int, str]] = {condition: {} for condition in drawn}
        sheets = AnswerSheet.objects.filter(condition__in=drawn.keys(), answer__in={answer for _, answer, _ in wanted})
        rows = list(sheets.order_by().values_list("condition", "answer", "bank", "labels"))
        banks = {bank for _, _, bank, _ in rows}
        names = _names(BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition")))
        for condition, answer, _, labels in rows:
            for nugget, label in labels.items():
                item = wanted.get((condition, answer, names[nugget]))
                if item and label in ASSIGNMENT:
                    found[condition][item] = label
        return found

    def labellers(self, condition: Condition, topic: Topic) -> set[int]:
        sheets = AnswerSheet.objects.filter(condition=condition, answer__topic=topic, by_rule=False)
        have = sheets.exclude(task=None).values_list("task__person", flat=True)
        had = Revision.objects.filter(sheet__in=sheets).exclude(task=None).values_list("task__person", flat=True)
        return {*have, *had}

    def hand_out(self, condition: Condition) -> None:
        Opinion.objects.create(condition=condition, seed=new_seed())

    def told(self, drawn: Sequence[Drawn]) -> Mapping[int, Told]:
        banks = NuggetBank.objects.filter(nuggets__in={int(one.item.split()[0]) for one in drawn})
        editions = BankEdition.objects.filter(bank__in=banks)
        texts = {name_of(nugget): nugget["text"] for edition in editions for nugget in edition.nuggets}
        return {one.pk: Told("nugget", texts[one.item], "", one.answer.text) for one in drawn}


def _names(editions: Iterable[BankEdition]) -> dict[str, str]:
    """Return what names the nuggets of editions, by id as sheets have it."""
    return {str(nugget["id"]): name_of(nugget) for edition in editions for nugget in edition.nuggets}
