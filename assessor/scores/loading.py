"""All scores of a condition, and what every app needs to find them."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from django.db.models import CharField, Exists, ExpressionWrapper, F, Func, OuterRef, TextField

from assessor.campaigns.condition_kind import CIRCULAR, condition_kinds
from assessor.campaigns.models import CANARY, CONTROL, Answer, Condition, Run
from assessor.campaigns.queries import hidden_answers, own_answers
from metaeval.stats.means import Codes, Figures
from metaeval.stats.measures import Measures

_AT_A_TIME = 2_000
Said = TypeVar("Said")
Keys = npt.NDArray[Any]


class RunName(NamedTuple):
    """A run as tables name it. mark: what they must say beside its name, as ConditionKind.run_marks() has it."""

    pk: int
    tag: str
    team: str
    task: str
    mark: str = ""

    @property
    def is_control(self) -> bool:
        """Whether it is no system's."""
        return self.task == CONTROL

    @property
    def is_canary(self) -> bool:
        """Whether it was made to mislead a judge."""
        return self.is_control and self.tag.startswith(CANARY)

    @property
    def is_circular(self) -> bool:
        """Whether it was made from what scores it, or by who does."""
        return self.mark == CIRCULAR

    @property
    def is_independent(self) -> bool:
        """Whether it is a system's, and not circular."""
        return not self.is_control and not self.is_circular


class Topic(Protocol):
    """A judged topic."""

    @property
    def pk(self) -> int: ...

    @property
    def qid(self) -> str: ...

    @property
    def title(self) -> str: ...


class Scores(Protocol):
    """All scores of a condition: its runs by tag and its topics by id, in byte order, and arrays as means.py has them.

    scores: (runs, topics, measures); states: (runs, topics). unusual: how often there is what makes scores other than
    usual, by the names that files have for it.
    """

    @property
    def runs(self) -> Sequence[RunName]: ...

    @property
    def topics(self) -> Sequence[Topic]: ...

    @property
    def scores(self) -> Figures: ...

    @property
    def states(self) -> Codes: ...

    @property
    def measures(self) -> Measures: ...

    @property
    def unusual(self) -> Mapping[str, int | str]: ...


class Labels(NamedTuple):
    """All labels that the scores of a condition come from, in arrays of equal length.

    topic, run: by key. owner, item: name together what is labelled, alike under all conditions that label it; code:
    the label's place among its kind's; by_rule: whether a rule gave it, and nobody. Nothing of what lacks a label.
    """

    topic: Keys
    run: Keys
    owner: Keys
    item: Keys
    code: Codes
    by_rule: npt.NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence["Labels"]) -> "Labels":
        """Return the labels of all parts."""
        none = np.zeros(0, dtype=np.int64)
        nothing = cls(none, none, none, none, none.astype(np.int8), none.astype(bool))
        return cls(*map(np.concatenate, zip(nothing, *parts, strict=True)))

    def by_topic(self) -> "dict[int, Labels]":
        """Return the labels of each topic, by its key."""
        starts = np.flatnonzero(np.diff(self.topic, prepend=-1))
        topics, columns = self.topic[starts], list(self)
        if len(set(topics.tolist())) < len(topics):  # they come by topic, but not from every reader
            order = np.argsort(self.topic, kind="stable")
            topics, starts = np.unique(self.topic[order], return_index=True)
            columns = [column[order] for column in self]
        parts = [np.split(column, starts[1:]) for column in columns]
        return {topic: Labels(*(part[at] for part in parts)) for at, topic in enumerate(topics.tolist())}

    def placed(self, rows: Mapping[int, int], columns: Mapping[int, int]) -> tuple[Keys, Keys, Codes]:
        """Return row, column and code of each label whose run has a row and whose item a column, both by key."""
        at_row, at_column = _places(rows, self.run), _places(columns, self.item)
        is_placed = (at_row >= 0) & (at_column >= 0)
        return at_row[is_placed], at_column[is_placed], self.code[is_placed]


def _places(places: Mapping[int, int], keys: Keys) -> Keys:
    """Return the places of keys, -1 for one that has none."""
    if not places:
        return np.full(len(keys), -1)
    known = np.array(sorted(places), dtype=np.int64)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[at] == keys, np.array([places[key] for key in known.tolist()])[at], -1)


class Cell(NamedTuple, Generic[Said]):
    """What a sheet says of a run's answer to a topic; None where nothing of it counts.

    is_apart: the answer is a text that came with its labels and is not what the run answered.
    """

    is_apart: bool
    said: Said | None


def take(cells: dict[int, Cell[Said]], run: int, cell: Cell[Said]) -> None:
    """Add what is said of a run's answer to what is said of a topic, by run's key.

    Labels of what the run itself answered go before those of a text that came with its labels. Of two such texts
    nobody can say which is the run's, so neither counts.
    """
    other = cells.get(run)
    if other is None or (other.is_apart and not cell.is_apart):
        cells[run] = cell
    elif other.is_apart:
        cells[run] = other._replace(said=None)


def what_counts(
    condition: Condition, cells: Mapping[int, Cell[Said]], own: Collection[int], others: Collection[int] = ()
) -> tuple[dict[int, Said], set[int]]:
    """Return what counts of what is said of a topic, by run's key, and the runs of whose answers nothing counts.

    own: the runs that answered the topic themselves; others: further ones whose answers are to be judged. Labels of a
    text that is not what the run answered are the run's only under an imported condition, whose file says so.
    """
    is_imported = condition.is_imported
    said = {
        run: cell.said
        for run, cell in cells.items()
        if cell.said is not None and (is_imported or not cell.is_apart or run not in own)
    }
    return said, {*own, *others, *cells} - said.keys()


def as_stored(*names: str) -> list[Any]:
    """Return columns as what is stored there: JSON as text, yes and no as a number or a bool.

    Read value by value by its own column, JSON takes longer than all the rest of loading scores, and yes or no as long
    as reading the row.
    """
    return [ExpressionWrapper(F(name), output_field=TextField()) for name in names]


class Join(Func):
    """All values of a subquery as one text, null of none; the order is the same for all texts of a row.

    No Aggregate, so that nothing is grouped: that takes a tenth of the time.
    """

    function = "GROUP_CONCAT"
    template = "%(function)s(%(expressions)s)"
    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        """With constants in the statement itself: SQLite copies those that are bound for each row, a third of all."""
        sql, constants = self.as_sql(compiler, connection, **extra)
        quote = connection.schema_editor().quote_value
        return (sql % tuple(map(quote, constants))).replace("%", "%%"), ()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function="STRING_AGG", **extra)


def parsed(texts: Iterable[str]) -> list[Any]:
    """Return what JSON texts say, all read at once."""
    values: list[Any] = json.loads(f"[{','.join(texts)}]")
    return values


def run_names(runs: Collection[int], condition: Condition) -> list[RunName]:
    """Return the runs, named by their keys, that are scored under a condition, by tag."""
    marks: dict[str, str] = {}
    for one in condition.label_sources:  # of a panel, what holds for any of its members
        for kind in condition_kinds():
            marks |= {tag: mark for tag, mark in kind.run_marks(one).items() if marks.get(tag) != CIRCULAR}
    names = Run.objects.filter(pk__in=runs).values_list("pk", "tag", "team", "task")
    named = (RunName(pk, tag, team, task, marks.get(tag, "")) for pk, tag, team, task in names)
    return sorted(named, key=lambda run: run.tag)


def systems(runs: Iterable[RunName]) -> list[str]:
    """Return the tags of the systems' runs, in byte order."""
    return sorted(run.tag for run in runs if not run.is_control)


def run_set(runs: Iterable[RunName]) -> str:
    """Return what names a set of systems' runs in short, for measures that are relative to it."""
    return sha256("\n".join(systems(runs)).encode()).hexdigest()[:8]


class Answers(NamedTuple):
    """All answers to topics, by key, in arrays of equal length: of each what scores need.

    is_own: whether the run itself answered so, and not a text that only labels refer to.
    """

    pk: Keys
    topic: Keys
    run: Keys
    words: Keys
    is_apart: npt.NDArray[np.bool_]
    is_own: npt.NDArray[np.bool_]

    def at(self, places: Any) -> "Answers":
        """Return some of them, as an array's index has it."""
        return Answers(*(column[places] for column in self))

    def who_answered(self, runs: Sequence[RunName], topics: Collection[int]) -> dict[int, set[int]]:
        """Return for each topic those of the runs that answered it themselves, all by key."""
        counted = self.at(self.is_own & np.isin(self.run, [run.pk for run in runs]))
        return {topic: set(counted.run[of].tolist()) for topic, of in places_by(counted.topic, topics).items()}


def answers_to(topics: Collection[int]) -> Answers:
    """Read all answers to topics, named by their keys, from an index: the row of an answer is as long as the answer."""
    rows = Answer.everything.filter(topic__in=topics).order_by()
    names = ("pk", "topic", "run", "words", *as_stored("apart"))
    found, _ = columns_of(rows.values_list(*names).iterator(_AT_A_TIME), len(names))
    pk, topic, run, words, apart = found[:, np.argsort(found[0])]
    is_hidden = np.isin(pk, list(hidden_answers().order_by().values_list("pk", flat=True)))
    return Answers(pk, topic, run, words, apart.astype(bool), (apart == 0) & ~is_hidden)


def columns_of(rows: Iterator[tuple[Any, ...]], numbers: int) -> tuple[Keys, list[str | None]]:
    """Return the first columns of rows, of so many numbers, and the texts of the last one, if there is another."""
    parts, texts = [np.zeros((numbers, 0), dtype=np.int64)], list[str | None]()
    while chunk := list(islice(rows, _AT_A_TIME)):
        columns = list(zip(*chunk, strict=True))
        parts.append(np.array(columns[:numbers], dtype=np.int64))
        texts += chain.from_iterable(columns[numbers:])
    return np.concatenate(parts, axis=1), texts


def places_by(keys: Keys, wanted: Collection[int]) -> dict[int, Keys]:
    """Return the places of each wanted key among some, in their order."""
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], list(wanted), side="right").tolist()
    starts = np.searchsorted(keys[order], list(wanted)).tolist()
    return {key: order[start:end] for key, start, end in zip(wanted, starts, ends, strict=True)}


def runs_outside(condition: Condition, found: Scores) -> list[str]:
    """Return the tags of the systems' runs that answered one of the judged topics and have no row, in byte order.

    None is where passages are labelled, and no answers.
    """
    if condition.of_passages:
        return []
    answers = own_answers([topic.pk for topic in found.topics]).filter(run=OuterRef("pk"))
    others = condition.campaign.runs.exclude(task=CONTROL).exclude(pk__in=[run.pk for run in found.runs])
    return sorted(others.filter(Exists(answers)).order_by().values_list("tag", flat=True))
