"""What studies draw from the labels of answers: nuggets."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import F, QuerySet

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import texts_to_label
from assessor.labels.models import Label
from assessor.studies.models import SampledItem
from assessor.studies.sampling import Key, Sampling, Told
from assignment import models
from assignment.label_kind import Assignment
from assignment.models import AnswerSheet
from assignment.queries import name_of
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import present_editions, with_keys


class NuggetSampling(Sampling):
    """Labels of nuggets; Sampling says what each function is for."""

    def __init__(self, kind: Assignment) -> None:
        self.heading, self._item = kind.item_heading, kind.item

    def labels_on(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[Key, str]:
        banks = NuggetBank.objects.filter(condition=condition.nuggets_id, topic__in=topics)
        editions = BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition"))
        # Of several banks on a topic the one that was finished last, as in scores.
        newest = dict(editions.order_by("pk").values_list("bank__topic", "bank"))
        # What follows from a rule alone is nobody's opinion.
        sheets = AnswerSheet.objects.filter(condition=condition, bank__in=newest.values(), by_rule=False)
        own = sheets.filter(answer__in=texts_to_label(condition, topics)).order_by()
        given = models.Assignment.objects.filter(sheet__in=own.values("pk"), state=Label.State.GIVEN)
        return {
            (answer, str(nugget)): label
            for answer, nugget, label in given.order_by("sheet", "pk").values_list("sheet__answer", "nugget", "value")
            if label
        }

    def names(self, keys: Collection[Key]) -> Mapping[Key, str]:
        banks = NuggetBank.objects.filter(nuggets__in={int(nugget) for _, nugget in keys})
        names = _names(banks)
        return {key: names[key[1]] for key in keys}

    def drawn_by(self, name: str) -> str:
        _, text = name.split()  # an import makes uids of its own
        return text

    def nugget_of(self, name: str) -> str:
        return name.split(" ")[0]

    def labels_of(self, drawn: Mapping[int, Collection[SampledItem]]) -> Mapping[int, Mapping[int, str]]:
        wanted = {(pk, one.answer_id, one.item): one.pk for pk, items in drawn.items() for one in items}
        found: dict[int, dict[int, str]] = {condition: {} for condition in drawn}
        given = models.Assignment.in_or_out.filter(
            sheet__condition__in=drawn.keys(),
            sheet__answer__in={answer for _, answer, _ in wanted},
            state=Label.State.GIVEN,
        )
        columns = ("sheet__condition", "sheet__answer", "sheet__bank", "nugget", "value")
        rows = list(given.order_by("pk").values_list(*columns))
        names = _names(NuggetBank.objects.filter(pk__in={bank for _, _, bank, _, _ in rows}))
        for condition, answer, _, nugget, label in rows:
            item = wanted.get((condition, answer, names[str(nugget)]))
            if item and label:
                found[condition][item] = label
        return found

    def sheets_on(self, topic: Topic) -> QuerySet[AnswerSheet]:
        return AnswerSheet.in_or_out.filter(answer__topic=topic, by_rule=False)

    def told(self, drawn: Sequence[SampledItem]) -> Mapping[int, Told]:
        banks = NuggetBank.objects.filter(answer_sheets__answer__in={one.answer_id for one in drawn})
        editions = with_keys(BankEdition.objects.filter(bank__in=banks))
        texts = {name_of(nugget): nugget["text"] for edition in editions for nugget in edition.nuggets}
        return {one.pk: Told(self._item, texts[one.item], "", one.answer.text) for one in drawn}


def _names(banks: Iterable[NuggetBank]) -> dict[str, str]:
    """Return what names the nuggets that banks were last finished with, by id as sheets have it."""
    editions = present_editions(banks).values()
    return {str(nugget["id"]): name_of(nugget) for edition in editions for nugget in edition.nuggets}
