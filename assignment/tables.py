"""Score tables of conditions."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, Q, Sum

from assessor.collection.models import CONTROL, Condition, Import
from assignment.arrays import RunName, Scores, load_scores
from assignment.models import AnswerSheet, LeftOut
from assignment.scores import COMPLETE, INCOMPLETE, UNANSWERED, Codes, Figures, Policy, run_scores, spread
from nuggets.models import BankEdition

OVER = ("minimum", "median", "maximum")


class Row(NamedTuple):
    """A run of a score table, or what is told over all. figures: by COLUMNS, NaN where undefined."""

    name: str
    run: RunName | None
    topics: int
    complete: int
    incomplete: int
    figures: list[float]


class Table(NamedTuple):
    """The scores of the runs of a condition: of systems, their least, median and largest, and of control runs."""

    systems: list[Row]
    over: list[Row]
    controls: list[Row]

    @property
    def answers(self) -> int:
        """How many answers there are to the judged topics."""
        return self.incomplete + sum(row.complete for row in (*self.systems, *self.controls))

    @property
    def incomplete(self) -> int:
        """How many of them lack a label that they need."""
        return sum(row.incomplete for row in (*self.systems, *self.controls))


class Counts(NamedTuple):
    """What there is under a condition. to_do: nuggets of which nobody said anything yet, over all answers.

    cannot: answers with a nugget that can't be judged. versions and newest name the state of all of it.
    """

    answers: int
    done: int
    to_do: int
    cannot: int
    versions: int
    newest: int


def score_table(found: Scores, policy: Policy) -> Table:
    """Return the score table of a condition under a policy."""
    is_control = np.array([run.task == CONTROL for run in found.runs], dtype=bool)
    figures = run_scores(found.scores, found.states, policy)
    rows = [_row(run.tag, run, found.states[[at]], figures[at]) for at, run in enumerate(found.runs)]
    states = found.states[~is_control]
    over = spread(found.scores[~is_control], states, policy)
    return Table(
        systems=[row for row, control in zip(rows, is_control, strict=True) if not control],
        over=[_row(name, None, states, over[at]) for at, name in enumerate(OVER)],
        controls=[row for row, control in zip(rows, is_control, strict=True) if control],
    )


def _row(name: str, run: RunName | None, states: Codes, figures: Figures) -> Row:
    complete, incomplete = (int((states == state).sum()) for state in (COMPLETE, INCOMPLETE))
    return Row(name, run, states.shape[1], complete, incomplete, figures.tolist())


def cell_figures(found: Scores, policy: Policy) -> Figures:
    """Return the scores of all answers, NaN too where a run did not answer and that does not count."""
    if policy == Policy.ZERO:
        return found.scores
    figures: Figures = np.where((found.states == UNANSWERED)[..., np.newaxis], np.nan, found.scores)
    return figures


def condition_scores(condition: Condition) -> Scores:
    """Return all scores of an assignment condition, computed anew when anything that they depend on has changed."""
    key, state = f"scores.{condition.pk}", _state(condition)
    kept = cache.get(key)
    if kept and kept[0] == state:
        found: Scores = kept[1]
    else:
        found = load_scores(condition)
        cache.set(key, (state, found), timeout=None)  # in the place of the last ones: a track's take 3 MB
    return found


def _state(condition: Condition) -> tuple[Any, ...]:
    """Name the state of all that a condition's scores depend on.

    Whatever changes a sheet counts its version up, a new edition of its bank too. Answers, runs and their tasks come
    with imports only.
    """
    left_out = LeftOut.objects.filter(condition=condition).aggregate(newest=Max("pk"))
    editions = BankEdition.objects.filter(bank__condition=condition.nuggets_id).aggregate(newest=Max("pk"))
    imports = Import.objects.filter(campaign=condition.campaign_id, state=Import.State.DONE)
    done = imports.aggregate(count=Count("pk"), last=Max("ended_at"))
    counts = counts_by_condition([condition]).get(condition.pk)
    return counts, left_out["newest"], editions["newest"], done["count"], done["last"]


def counts_by_condition(conditions: Iterable[Condition]) -> dict[int, Counts]:
    """Count the answers of conditions, by condition's key, in one query; one without answers is absent."""
    sheets = AnswerSheet.objects.filter(condition__in=list(conditions)).order_by().values("condition")
    counted = sheets.annotate(
        answers=Count("pk"),
        done=Count("pk", filter=Q(to_do=0)),
        left=Sum("to_do"),
        unjudgeable=Count("pk", filter=~Q(cannot={})),
        versions=Sum("version"),
        newest=Max("pk"),
    )
    names = ("answers", "done", "left", "unjudgeable", "versions", "newest")
    return {condition: Counts(*counts) for condition, *counts in counted.values_list("condition", *names)}


class Scope(NamedTuple):
    """What a condition's answer sheets are about."""

    topics: int
    runs: int


def scopes(counts: Mapping[int, Counts]) -> dict[int, Scope]:
    """Return the scope of conditions, by key: counted anew when there are more sheets, which takes a moment."""
    keys = {f"scope.{pk}.{count.answers}.{count.newest}": pk for pk, count in counts.items()}
    kept: dict[str, Scope] = cache.get_many(keys)
    lacking = {pk: key for key, pk in keys.items() if key not in kept}
    sheets = AnswerSheet.objects.filter(condition__in=list(lacking)).order_by().values("condition")
    counted = sheets.annotate(
        topics=Count("bank__topic", distinct=True), runs=Count("answer__run", distinct=True)
    ).values_list("condition", "topics", "runs")
    new = {lacking[pk]: Scope(*sizes) for pk, *sizes in (counted if lacking else ())}
    cache.set_many(new, timeout=None)
    return {keys[key]: scope for key, scope in {**kept, **new}.items()}
