"""The labels of answers as a table for a paper: the nuggets of each answer with what all conditions say of them."""

import json
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, Run, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from assessor.labels.models import Label
from assessor.labels.queries import labels_at_once
from assignment.label_kind import Assignment
from assignment.models import AnswerSheet
from assignment.queries import labelling
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import nuggets_in_order

_AT_A_TIME = 200
_NONE = "no label"


class _Answer(NamedTuple):
    """An answer's labels by nuggets of a bank. labels: by condition's key and nugget's; conditions: that have it."""

    run: str
    bank: NuggetBank
    conditions: list[Condition]
    labels: Mapping[tuple[int, int], str]

    def said(self, condition: Condition, nugget: Nugget) -> str:
        """Return the label that counts, or that there is none."""
        return self.labels.get((condition.pk, nugget.pk), _NONE)

    def differ(self, nugget: Nugget) -> bool:
        """Say whether any two conditions label a nugget differently."""
        return len({self.said(one, nugget) for one in self.conditions} - {_NONE}) > 1


def compared(kind: Assignment, campaign: Campaign) -> list[Condition]:
    """Return the conditions whose labels the tables have, people's first; those of samples are about few nuggets."""
    return sorted(labelling(kind, campaign).filter(sample=""), key=lambda one: (one.is_a_models, one.name))


def by_answer(
    kind: Assignment, campaign: Campaign, topics: Collection[Topic] | None, runs: Collection[Run] | None, form: str
) -> Iterator[str]:
    """Yield the labels of answers under all conditions, as "csv" or "tex": a table for each answer."""
    conditions = compared(kind, campaign)
    found = _answers(judged(conditions, topics, runs), conditions)
    if form == "tex":
        return (line for answer in found for line in _as_latex(answer))
    columns = ("topic", "run_id", "nuggets", "nugget", "importance", *(one.name for one in conditions), "differ")
    rows = (
        (
            *(answer.bank.topic.qid, answer.run, answer.bank.condition.name, nugget.text, nugget.importance),
            *(answer.said(one, nugget) if one in answer.conditions else "" for one in conditions),
            int(answer.differ(nugget)),
        )
        for answer in found
        for nugget in nuggets_in_order(answer.bank)
    )
    return write_table(columns, rows)


def judged(
    conditions: Collection[Condition], topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> QuerySet[AnswerSheet]:
    """Return the judged answers that tables of conditions are of."""
    sheets = AnswerSheet.objects.filter(condition__in=[one.pk for one in conditions], answer__apart=False)
    sheets = without_practice(sheets, "answer")
    if topics is not None:
        sheets = sheets.filter(answer__topic__in=[topic.pk for topic in topics])
    if runs is not None:
        sheets = sheets.filter(answer__run__in=[run.pk for run in runs])
    return sheets


def _answers(sheets: QuerySet[AnswerSheet], conditions: list[Condition]) -> Iterator[_Answer]:
    """Yield answers by topic id, the bank's condition and run's tag, read a few at a time."""
    used = NuggetBank.objects.filter(pk__in=sheets.order_by().values("bank"))
    banks = {bank.pk: bank for bank in used.select_related("topic", "condition__judge").prefetch_related("nuggets")}
    in_order = sheets.order_by(
        byte_order("answer__topic__qid"), "bank__condition__name", "bank", byte_order("answer__run__tag"), "condition"
    )
    rows = in_order.annotate(labels_=labels_at_once(AnswerSheet, "nugget", "state", "value", "resolved_value"))
    values = rows.values_list("bank", "answer__run__tag", "condition", "labels_").iterator(_AT_A_TIME)
    for (bank, run), of_answer in groupby(values, itemgetter(0, 1)):
        of_condition = {condition: json.loads(labels or "[]") for _, _, condition, labels in of_answer}
        said = {
            (condition, nugget): label
            for condition, labels in of_condition.items()
            for nugget, state, value, resolved in labels
            if (label := value if state == Label.State.GIVEN else resolved)
        }
        yield _Answer(run, banks[bank], [one for one in conditions if one.pk in of_condition], said)


def _as_latex(answer: _Answer) -> Iterator[str]:
    rows = (
        latex.row(
            (
                latex.marked(nugget.text, answer.differ(nugget)),
                as_latex(nugget.importance),
                *(as_latex(answer.said(one, nugget)) for one in answer.conditions),
            )
        )
        for nugget in nuggets_in_order(answer.bank)
    )
    return latex.table(
        f"Labels of {as_latex(answer.run)} on topic {as_latex(answer.bank.topic.qid)}, nuggets of "
        f"{as_latex(answer.bank.condition.name)}; $\\ast$: the labels differ",
        f"p{{0.34\\linewidth}}l{latex.text_columns(len(answer.conditions), 0.45)}",
        ("Nugget", "Importance", *(as_latex(one.name) for one in answer.conditions)),
        rows,
    )
