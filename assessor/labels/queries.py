"""What readers of labels have in common."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from django.db.models import Aggregate, Case, CharField, Func, OuterRef, Q, Subquery, TextField, Value, When
from django.db.models.functions import Coalesce

from assessor.campaigns.models import Campaign, Condition
from assessor.campaigns.queries import without_practice
from assessor.labels.label_kind import label_kinds
from assessor.labels.models import JudgedAnswer, Label
from assessor.llm.models import Job, Unit
from assessor.work.models import Task

# Of a query on labels: that which counts, another person's where this one could judge nothing.
COUNTED = Case(When(state__in=(Label.State.GIVEN, Label.State.UNJUDGEABLE), then=Coalesce("value", "resolved_value")))


def numbers_of(places: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return what a person's answers are called, from 1, by key. places: in the seeded order, each with the key."""
    return {pk: number for number, (_, pk) in enumerate(sorted(places), start=1)}


def at_hand(queue: Sequence[Any], wanted: str, most: int) -> list[int]:
    """Return what comes with the page of a queue: what is asked for, if anything, then what is to be done next."""
    at = next((place for place, queued in enumerate(queue) if str(queued.sheet) == wanted), None)
    in_turn = queue if at is None else [*queue[at:], *queue[:at]]
    first = [] if at is None else in_turn[:1]
    to_do = [queued for queued in in_turn[len(first) :] if queued.to_do]
    return [queued.sheet for queued in ([*first, *to_do] or in_turn)[:most]]


def letter_of(labels: Sequence[str], letters: str, none: str, unknown: str) -> Func:
    """Return the letter of "counted", a query's COUNTED: that of the label, of none, of one that is none of them."""
    pairs = ((Value(label), Value(letter)) for label, letter in zip(("", *labels), (none, *letters), strict=True))
    return _Letter(Coalesce("counted", Value("")), *chain.from_iterable(pairs), Value(unknown))


class _Letter(Func):
    """A CASE that reads what it compares once, and not for each label as Django's Case does."""

    output_field = CharField()

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Any:  # type: ignore[override]
        compiled = [compiler.compile(one) for one in self.get_source_expressions()]
        what, *cases, default = (sql for sql, _ in compiled)
        pairs = (f"WHEN {label} THEN {letter}" for label, letter in zip(cases[::2], cases[1::2], strict=True))
        return f"CASE {what} {' '.join(pairs)} ELSE {default} END", [one for _, some in compiled for one in some]


class JsonRows(Aggregate):
    """The rows of a group as one text of JSON, a list for each."""

    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="JSON_GROUP_ARRAY(JSON_ARRAY(%(expressions)s))", **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "CAST(JSON_AGG(JSON_BUILD_ARRAY(%(expressions)s)) AS text)"
        return self.as_sql(compiler, connection, template=template, **extra)


def labels_at_once(model: type[JudgedAnswer], *columns: str) -> Subquery:
    """Return a column of a query on judged answers: these columns of their labels as JSON, null where they ask nothing.

    Read by another statement, a label could come with the text, edition or place of another moment.
    """
    rows = model.label_model().everything.filter(~Q(state=Label.State.REMOVED), sheet=OuterRef("pk"))
    return Subquery(rows.order_by().values("sheet").annotate(as_json=JsonRows(*columns)).values("as_json"))


def outdated_labels(campaign: Campaign) -> int:
    """Count the labels of a campaign whose nuggets were reworded since, which are to be given again."""
    number = 0
    for kind in label_kinds():
        if kind.judges_answers:
            # An outdated label is one that is still to do: of a track's million labels few are read.
            judged = kind.judged_answers().filter(condition__campaign=campaign, to_do__gt=0)
            labels = kind.sheets.label_model().objects.filter(sheet__in=judged.order_by().values("pk"))
            number += without_practice(labels, "sheet__answer").filter(state=Label.State.OUTDATED).count()
    return number


def topics_at_work(condition: Condition, topics: Collection[int]) -> set[int]:
    """Return those of the topics, by key, on which a job or people have still something to say under a condition.

    A job may have to say something on a topic whose units are still to be made.
    """
    lacking = Job.objects.filter(condition=condition).exclude(state=Job.State.CANCELLED).exclude(topics_left=[])
    left = {qid for of_job in lacking.values_list("topics_left", flat=True) for qid in of_job}
    of_left = condition.campaign.topics.filter(pk__in=topics, qid__in=left)
    to_do = (Unit.State.WAITING, Unit.State.CLAIMED)
    units = Unit.objects.filter(job__condition=condition, topic__in=topics, state__in=to_do)
    units = units.exclude(job__state=Job.State.CANCELLED)
    tasks = Task.objects.filter(condition=condition, topic__in=topics, state=Task.State.OPEN)
    at_work = *units.values_list("topic_id", flat=True).distinct(), *tasks.values_list("topic_id", flat=True)
    return {*at_work, *of_left.values_list("pk", flat=True)}
