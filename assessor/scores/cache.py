"""What each process keeps of conditions: never an old table, and none computed twice."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Sum

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Campaign, Condition, Import
from assessor.campaigns.queries import without_practice
from assessor.runtime.database_state import database_state
from assessor.runtime.process_cache import cache
from assessor.scores.loading import Answers, Labels, Scores, answers_to
from assessor.scores.score_source import scoring_of
from assessor.scores.tables import SEED, Counting, counted_cells, score_table, tukey_groups_of
from metaeval.stats.bootstrap import bootstrap_means
from metaeval.stats.means import Policy

Result = TypeVar("Result")
State = tuple[Any, ...]


class _Asked(threading.local):
    """What states_of() said in a thread since anything was written to the database. seen: as database_state() has it.

    states: by the key of a condition.
    """

    seen: State | None = None
    states: dict[int, State]


_asked = _Asked()


class Counts(NamedTuple):
    """What there is under a condition. answers: or pairs of them, as Scoring.counted says. to_do: labels that nobody
    gave yet, over all of them.

    cannot: those with something that can't be judged. versions and newest name the state of all of it. facts: by its
    kind's. kind: of the condition.
    """

    answers: int
    done: int
    to_do: int
    cannot: int
    versions: int
    newest: int
    facts: tuple[int, ...]
    kind: str


class Scope(NamedTuple):
    """What a condition's sheets are about."""

    topics: int
    runs: int


def condition_scores(condition: Condition, state: tuple[Any, ...] | None = None) -> Scores:
    """Return all scores of a condition, computed anew when anything that they depend on has changed.

    state: as states_of() has it, where it was asked for just now.
    """
    return _scores(condition, state)[1]


def scores_with_labels(condition: Condition, state: tuple[Any, ...]) -> tuple[Scores, Labels]:
    """Return all scores of a condition with the labels that they come from, which are read anew; keep the scores.

    state: as states_of() has it, asked for before.
    """
    found, labels = scoring_of(condition.kind).load_with_labels(condition)
    cache.set(_key(condition), (state, found), timeout=None)
    return found, labels


def scores_with_intervals(
    condition: Condition, policy: Policy, state: tuple[Any, ...] | None = None
) -> tuple[Scores, Counting, Counts | None]:
    """Return all scores of a condition, with what counts of them in means and how far these depend on topics.

    state: as states_of() has it, where it was asked for just now. Counts are of what the scores were computed from;
    None where there is nothing yet.

    The intervals are bootstrap_means() with SEED; they and the groups are of all measures at once, and kept as long as
    the scores.
    """
    state, found = _scores(condition, state)

    def count() -> Counting:
        cells = counted_cells(found, policy)
        intervals = bootstrap_means(cells, seed=SEED)
        return Counting(cells, *intervals, tukey_groups_of(found, cells), score_table(found, policy))

    return found, kept_in_state(f"intervals.{condition.pk}.{policy}", state, count), state[0]


def kept_in_state(name: str, state: tuple[Any, ...], compute: Callable[[], Result]) -> Result:
    """Return what was computed in a state, computed anew in another one. Only the newest one of a name is kept."""
    kept: tuple[tuple[Any, ...], Result] | None = cache.get(name)
    if not kept or kept[0] != state:
        kept = state, compute()
        cache.set(name, kept, timeout=None)
    return kept[1]


def answers_read(topics: Collection[int]) -> Answers:
    """Return answers_to() topics: for all conditions that are scored at once, from one reading."""
    seen = database_state()
    if seen is None:
        return answers_to(topics)
    return kept_in_state("answers", (seen, tuple(topics)), lambda: answers_to(topics))


def _scores(condition: Condition, state: tuple[Any, ...] | None = None) -> tuple[tuple[Any, ...], Scores]:
    """Return the state of a condition's scores and the scores."""
    state = state or state_of(condition)
    found = kept_scores(condition, state)
    if found is None:
        found = scoring_of(condition.kind).load(condition)
        cache.set(_key(condition), (state, found), timeout=None)  # in the place of the last ones: a track's take 3 MB
    return state, found


def kept_scores(condition: Condition, state: tuple[Any, ...]) -> Scores | None:
    """Return all scores of a condition if they were computed in this state already, or None."""
    kept = cache.get(_key(condition))
    return kept[1] if kept and kept[0] == state else None


def _key(condition: Condition) -> str:
    return f"scores.{condition.pk}"


def state_of(condition: Condition) -> tuple[Any, ...]:
    """Name the state of all that a condition's scores depend on."""
    return states_of([condition])[condition.pk]


def states_of(conditions: Sequence[Condition]) -> dict[int, tuple[Any, ...]]:
    """Name the state of all that scores of a campaign's conditions depend on, by key, in a few queries for all.

    Whatever changes a sheet counts its version up. Answers, runs and their tasks come with imports only. A panel's
    state has those of its members. Nothing is counted again until something is written to the database.
    """
    seen = database_state()
    if seen is None:
        return _count_states(conditions)
    if _asked.seen != seen:
        _asked.seen, _asked.states = seen, {}
    _asked.states |= _count_states([one for one in conditions if one.pk not in _asked.states])
    return {one.pk: _asked.states[one.pk] for one in conditions}


def _count_states(conditions: Sequence[Condition]) -> dict[int, State]:
    if not conditions:
        return {}
    members = Condition.members_of(conditions)
    if members:
        every = {one.pk: one for one in (*conditions, *(one for some in members.values() for one in some))}
        of_each = _count_states([one for one in every.values() if not one.is_panel])
        panels = [one for one in conditions if one.is_panel]
        routed = {pk: told for kind in {one.kind for one in panels} for pk, told in _further(kind, panels).items()}
        counts = counts_by_condition(panels)
        return {
            one.pk: (counts.get(one.pk), routed[one.pk], *(of_each[member.pk] for member in members[one.pk]))
            if one.is_panel
            else of_each[one.pk]
            for one in conditions
        }
    counts = counts_by_condition(conditions)
    further: dict[int, tuple[Any, ...]] = {}
    for kind in {condition.kind for condition in conditions}:
        further |= _further(kind, conditions)
    imports = last_imports(conditions[0].campaign)
    return {one.pk: (counts.get(one.pk), further[one.pk], *imports) for one in conditions}


def _further(kind: str, conditions: Sequence[Condition]) -> Mapping[int, tuple[Any, ...]]:
    return scoring_of(kind).states([condition for condition in conditions if condition.kind == kind])


def last_imports(campaign: Campaign) -> tuple[Any, ...]:
    """Name the state of all that imports brought into a campaign."""
    done = Import.objects.filter(campaign=campaign, state=Import.State.DONE)
    return tuple(done.aggregate(count=Count("pk"), last=Max("ended_at")).values())


def counts_by_condition(conditions: Iterable[Condition]) -> dict[int, Counts]:
    """Count the answers of conditions, by condition's key, in a query for each kind; one without answers is absent.

    Of a panel, as many are done as its quorum has done; ties may leave more open. One without a quorum is absent.
    """
    conditions = list(conditions)
    members = Condition.members_of(conditions)
    of_each = [one for some in members.values() for one in some]
    single = {one.pk: one for one in (*conditions, *of_each) if not one.is_panel}
    found = {
        pk: counts for kind, keys in _by_kind(single.values()).items() for pk, counts in _counts(kind, keys).items()
    }
    for panel in conditions:
        if panel.is_panel:
            counted = [found[one.pk] for one in members[panel.pk] if one.pk in found]
            if len(counted) >= panel.panel["quorum"]:
                found[panel.pk] = _counts_of_panel(counted, panel.panel["quorum"])
    return {one.pk: found[one.pk] for one in conditions if one.pk in found}


def _counts_of_panel(members: Sequence[Counts], quorum: int) -> Counts:
    """Return what a panel counts, from what its members do: of each, that of the last one that the quorum needs."""
    by_done = sorted(members, key=lambda one: (one.done, -one.to_do), reverse=True)
    return by_done[quorum - 1]._replace(answers=max(one.answers for one in members))


def _by_kind(conditions: Iterable[Condition]) -> dict[str, list[int]]:
    """Return the keys of conditions by the names of their kinds."""
    keys: dict[str, list[int]] = defaultdict(list)
    for condition in conditions:
        keys[condition.kind].append(condition.pk)
    return keys


def _counts(kind: str, conditions: list[int]) -> dict[int, Counts]:
    by = scoring_of(kind)
    facts = {f"fact{at}": fact for at, fact in enumerate(by.facts.values())}
    counted = _sheets(kind, condition__in=conditions).annotate(
        answers=Count("pk"),
        done=Count("pk", filter=by.done),
        left=by.left,
        unjudgeable=Count("pk", filter=by.cannot),
        versions=Sum("version"),
        newest=Max("pk"),
        **facts,
    )
    rows = counted.values_list("condition", "answers", "done", "left", "unjudgeable", "versions", "newest", *facts)
    return {
        condition: Counts(answers, done, left, cannot, versions, newest, tuple(told), kind)
        for condition, answers, done, left, cannot, versions, newest, *told in rows
    }


def with_answers(conditions: Iterable[Condition]) -> set[int]:
    """Return the keys of those conditions that have answers, in a query for each kind."""
    return _having(conditions, lambda kind: Q())


def with_open_answers(conditions: Iterable[Condition]) -> set[int]:
    """Return the keys of those conditions of which an answer lacks labels, in a query for each kind."""
    return _having(conditions, lambda kind: ~scoring_of(kind).done)


def with_incomplete_scores(conditions: Iterable[Condition]) -> set[int]:
    """Return the keys of those conditions of which an answer lacks labels, or has one that nobody could give."""
    return _having(conditions, lambda kind: ~scoring_of(kind).done | scoring_of(kind).cannot)


def _having(conditions: Iterable[Condition], sought: Callable[[str], Q]) -> set[int]:
    """Return the keys of conditions that have such a sheet; where one is found, no others are read.

    sought: what is looked for, by the name of a kind.
    """
    conditions = list(conditions)
    members = Condition.members_of(conditions)
    single = {one.pk: one for one in (*conditions, *(one for some in members.values() for one in some))}
    having = _having_sheets((one for one in single.values() if not one.is_panel), sought)
    of_panels = {pk for pk, some in members.items() if any(one.pk in having for one in some)}
    return {one.pk for one in conditions} & (having | of_panels)


def _having_sheets(conditions: Iterable[Condition], sought: Callable[[str], Q]) -> set[int]:
    found: set[int] = set()
    for kind, keys in _by_kind(conditions).items():
        sheets = _sheets(kind, condition=OuterRef("pk")).filter(sought(kind))
        found |= set(Condition.objects.filter(Exists(sheets), pk__in=keys).values_list("pk", flat=True))
    return found


def scopes(counts: Mapping[int, Counts]) -> dict[int, Scope]:
    """Return the scope of conditions, by key: counted anew when there are more sheets, which takes a moment."""
    keys = {f"scope.{pk}.{count.answers}.{count.newest}": pk for pk, count in counts.items()}
    kept: dict[str, Scope] = cache.get_many(keys)
    lacking = {pk: key for key, pk in keys.items() if key not in kept}
    new: dict[str, Scope] = {}
    for kind in {counts[pk].kind for pk in lacking}:
        of_kind = [pk for pk in lacking if counts[pk].kind == kind]
        by, sheets = scoring_of(kind), _sheets(kind, condition__in=of_kind)
        topics = sheets.annotate(topics=Count(by.topic, distinct=True)).values_list("condition", "topics")
        runs: dict[int, set[int]] = defaultdict(set)
        for path in by.runs:
            for pk, run in sheets.values_list("condition", path).distinct():
                runs[pk].add(run)
        new |= {lacking[pk]: Scope(size, len(runs[pk])) for pk, size in topics}
    cache.set_many(new, timeout=None)
    return {keys[key]: scope for key, scope in {**kept, **new}.items()}


def _sheets(kind: str, **of: Any) -> QuerySet[Any, dict[str, Any]]:
    """Return the sheets of conditions, to be counted for each; none of topics for practice."""
    under = kind_named(kind).in_scope(kind_named(kind).scored._default_manager.filter(**of))
    sheets: QuerySet[Any] = without_practice(under, scoring_of(kind).topic.removesuffix("__topic"))
    return sheets.order_by().values("condition")
