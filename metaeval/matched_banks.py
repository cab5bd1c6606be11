"""Banks of two conditions side by side: what each has of the other, and what that says of both."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, Judge, Topic
from assessor.formats.report import quantity
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.scores.cache import condition_scores
from assessor.scores.score_source import scored_conditions
from assessor.work.exposure import Seen
from metaeval.headline import Part
from metaeval.inputs import NothingToCompare, match_inputs, runs_matrix
from metaeval.kept_results import kept_result
from metaeval.measures import absolute_measures
from metaeval.serializers import number, statistic_json
from metaeval.stats import bank_matching, completeness
from metaeval.stats.agreement import Counts, kappa
from metaeval.stats.bank_matching import Matched
from metaeval.stats.completeness import AtLeast, not_estimated
from metaeval.stats.levels import tau_levels
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure
from metaeval.stats.statistic import Statistic, undefined
from nuggets.completeness import is_cut_short
from nuggets.matching.condition_kind import MATCHING
from nuggets.matching.models import BankMatching
from nuggets.matching.queries import Pairs, TopicBanks, banks_to_match, newest_matchings, pairs_of
from nuggets.models import Drafting, NuggetBank
from nuggets.queries import most_nuggets

IMPORTANCE = ("okay", "vital")
_COLUMNS = (
    *("topic", "first_uid", "first_nugget", "first_importance", "second_uid", "second_nugget", "second_importance"),
    *("matched_by", "matched_at"),
)
Json = dict[str, Any]


class TopicRow(NamedTuple):
    """A topic with both banks. matching: of these banks as they are, and what it comes to; None where there is none.

    is_outdated: the topic was matched, and a bank was finished again since. pairs: places in the banks; of an outdated
    matching those of nuggets that both still have, which count nowhere.
    """

    topic: Topic
    banks: TopicBanks
    matching: BankMatching | None
    is_outdated: bool
    pairs: Pairs
    found: Matched | None
    importance: Counts | None
    at_least: AtLeast | None

    @property
    def kappa(self) -> Statistic:
        """How far both banks agree on the importance of nuggets that match."""
        return undefined(0, "not matched") if self.importance is None else kappa(self.importance)


class Ranking(NamedTuple):
    """How alike both banks rank runs, by labels that the same people or model gave under either."""

    first: Condition
    second: Condition
    measure: Measure
    tau: Statistic
    topics: int


class MatchedBanks(NamedTuple):
    """All topics that have both banks, and what those that are matched come to."""

    condition: Condition
    rows: list[TopicRow]
    found: Matched
    importance: Counts
    kappa: Statistic
    at_least: AtLeast
    rankings: list[Ranking]

    @property
    def matched(self) -> list[TopicRow]:
        """The topics that are matched as their banks are."""
        return [row for row in self.rows if row.found is not None]

    @property
    def outdated(self) -> int:
        """How many topics were matched before a bank changed."""
        return sum(row.is_outdated for row in self.rows)

    @property
    def refused(self) -> list[tuple[str, int]]:
        """Why matched topics give no estimate of how many facts there are, and on how many."""
        reasons: dict[str, int] = {}
        for row in self.matched:
            if row.at_least and row.at_least.total is None:
                reasons[row.at_least.why] = reasons.get(row.at_least.why, 0) + 1
        return sorted(reasons.items(), key=lambda one: -one[1])


def matchings_of(campaign: Campaign) -> QuerySet[Condition]:
    """Return a campaign's conditions whose banks are matched, by name, with what pages tell of them."""
    found = campaign.conditions.filter(kind=MATCHING.name)
    sides = ("nuggets__protocol", "other_nuggets__protocol")
    return found.select_related(*Condition.TOLD_WITH, *sides, "campaign", "protocol").order_by("name")


def matched_banks(condition: Condition) -> MatchedBanks:
    """Return the banks of a condition side by side."""
    rows = topic_rows(condition)
    matched = [row for row in rows if row.found is not None]
    importance = bank_matching.importance_matrix([], [], ())
    for row in matched:
        assert row.importance is not None
        importance = importance + row.importance
    return MatchedBanks(
        condition,
        rows,
        bank_matching.add([row.found for row in matched if row.found]),
        importance,
        kappa(importance),
        completeness.add(row.at_least for row in matched if row.at_least),
        _rankings(condition),
    )


def topic_rows(condition: Condition, topics: Sequence[Topic] | None = None) -> list[TopicRow]:
    """Return all topics with both banks, or some, by topic id; those for practice are left out."""
    if topics is None:
        topics = list(condition.campaign.topics.filter(is_practice=False).order_by("qid"))
    banks, newest = banks_to_match(condition, topics), newest_matchings(condition)
    pairs = pairs_of([one for topic, one in newest.items() if topic in banks], banks)
    refusals = _refusals(condition, banks)
    rows = []
    for topic in topics:
        if topic.pk not in banks:
            continue
        both, matching, of_topic = banks[topic.pk], newest.get(topic.pk), pairs.get(topic.pk, set())
        if matching is None or not both.are_of(matching):
            rows.append(TopicRow(topic, both, None, matching is not None, of_topic, None, None, None))
            continue
        first, second = both.first.nuggets, both.second.nuggets
        found = bank_matching.match(len(first), len(second), of_topic)
        seen = found.facts.first + found.facts.second - found.facts.both
        refused = refusals[topic.pk]
        at_least = not_estimated(seen, refused) if refused else found.facts.at_least
        importance = bank_matching.importance_matrix(_codes(first), _codes(second), of_topic)
        rows.append(TopicRow(topic, both, matching, False, of_topic, found, importance, at_least))
    return rows


def _codes(nuggets: Sequence[Json]) -> list[int]:
    """Return the importance of nuggets as bank_matching takes it."""
    return [IMPORTANCE.index(one["importance"]) if one["importance"] else -1 for one in nuggets]


def both_of(banks: TopicBanks) -> tuple[list[Json], list[Json]]:
    """Return the nuggets of both banks."""
    return banks.first.nuggets, banks.second.nuggets


def _refusals(condition: Condition, banks: dict[int, TopicBanks]) -> dict[int, str]:
    """Say of each topic why its banks don't tell how many facts there are, or "".

    Who had a part in both found the same on purpose; and whose list was full would have found more.
    """
    every = [edition.bank for both in banks.values() for edition in both]
    draftings = Drafting.objects.in_bulk([bank.drafting_id for bank in every if bank.drafting_id])
    makers = {bank.pk: {bank.maker_id} for bank in every}
    for bank in every:
        if bank.drafting_id:
            makers[bank.pk].add(draftings[bank.drafting_id].judge_id)
    names = dict(Judge.objects.filter(pk__in=set().union(*makers.values())).values_list("pk", "name"))
    assert condition.nuggets is not None
    assert condition.other_nuggets is not None
    found = {}
    for topic, both in banks.items():
        shared = makers[both.first.bank_id] & makers[both.second.bank_id]
        full = [
            str(of)
            for of, edition in zip((condition.nuggets, condition.other_nuggets), both, strict=True)
            if _is_full(of, len(edition.nuggets), edition.bank, draftings)
        ]
        if shared:
            found[topic] = f"{names[min(shared)]} had a part in both banks"
        elif full:
            found[topic] = f"the list of {' and '.join(full)} is as long as it may be"
        else:
            found[topic] = ""
    return found


def _is_full(condition: Condition, nuggets: int, bank: NuggetBank, draftings: dict[int, Drafting]) -> bool:
    if nuggets >= most_nuggets(condition):
        return True
    drafting = draftings.get(bank.drafting_id or 0)
    return drafting is not None and is_cut_short(condition, drafting)


def _rankings(condition: Condition) -> list[Ranking]:
    """Return tau of runs for each two conditions that label the two banks in the same way, by the same judge."""
    both = scored_conditions(condition.campaign).filter(nuggets__in=(condition.nuggets, condition.other_nuggets))
    labelled: dict[tuple[Any, ...], dict[int, Condition]] = {}
    for one in both.exclude(method=Condition.PANEL).filter(of_passages=False).order_by("name"):
        key = (one.kind, one.method, one.judge_id, one.replicate, one.shown_id is None)
        labelled.setdefault(key, {}).setdefault(one.nuggets_id or 0, one)
    found = []
    for sides in labelled.values():
        first, second = (sides.get(one.pk) for one in (condition.nuggets, condition.other_nuggets) if one)
        if first and second:
            measure = absolute_measures(first)[0]
            found.append(Ranking(first, second, measure, *_tau(first, second, measure.key)))
    return found


def _tau(first: Condition, second: Condition, measure: str) -> tuple[Statistic, int]:
    """Return tau-b of the means of systems' runs over the topics that both have, and how many topics these are."""

    def compute() -> tuple[Statistic, int]:
        matrices = [
            runs_matrix(one, Policy.ZERO, np.array([run.is_independent for run in condition_scores(one).runs]))
            for one in (first, second)
        ]
        try:
            scores, _ = match_inputs(*matrices)
        except NothingToCompare as error:
            return undefined(0, str(error)), 0
        at = scores.reference.measures.index(measure)
        levels = tau_levels(scores.reference.cells[..., at], scores.candidate.cells[..., at])
        return levels.run, len(scores.reference.topics)

    return kept_result([first, second], f"banks.{measure}", compute)


def headline(found: MatchedBanks) -> list[Part]:
    """Say in two or three sentences what the second bank has of the first, in parts."""
    first, second = found.condition.nuggets, found.condition.other_nuggets
    matched = found.matched
    if not matched:
        topics = quantity(len(found.rows), "topics")
        return [Part(f"{topics} {'has' if len(found.rows) == 1 else 'have'} both banks; none is matched yet.")]
    parts = [
        Part(f"On {quantity(len(matched), 'topics')}, {second} has "),
        Part(_percent(found.found.recall), True),
        Part(f" of the {quantity(found.found.first, 'nuggets')} of {first}, and "),
        Part(_percent(found.found.precision), True),
        Part(f" of its own {quantity(found.found.second, 'nuggets')} are there too."),
    ]
    seen = found.at_least.seen
    if found.at_least.total is not None and round(found.at_least.total) > seen:
        parts += [
            Part(f" Together they state {quantity(seen, 'facts')}; there are at least "),
            Part(f"{found.at_least.total:,.0f}", True),
            Part("."),
        ]
    taus = [one.tau.value for one in found.rankings if one.tau.value is not None]
    if taus:
        low, high = (f"{one:.2f}" for one in (min(taus), max(taus)))
        parts += [Part(" Runs are ranked with τ "), Part(low if low == high else f"{low} to {high}", True)]
        parts += [Part(" between the two.")]
    return parts


def _percent(share: Statistic) -> str:
    return "—" if share.value is None else f"{100 * share.value:.0f} %"


class Line(NamedTuple):
    """A nugget of the first bank with those of the second that say the same, each with its place from 1."""

    place: int
    nugget: Json
    matches: list[tuple[int, Json]]


def lines(row: TopicRow) -> tuple[list[Line], list[tuple[int, Json]]]:
    """Return the first bank's nuggets with their matches, and those of the second bank that nothing matches."""
    first, second = both_of(row.banks)
    matched = {other for _, other in row.pairs}
    of_first = [
        Line(at + 1, nugget, [(other + 1, second[other]) for one, other in sorted(row.pairs) if one == at])
        for at, nugget in enumerate(first)
    ]
    return of_first, [(at + 1, nugget) for at, nugget in enumerate(second) if at not in matched]


def seen_in_matching(condition: Condition) -> Seen:
    """Yield both conditions of nuggets, with all topics on which they may have a bank."""
    for one in (condition.nuggets, condition.other_nuggets):
        assert one is not None
        yield one, Topic.objects.filter(pk__in=NuggetBank.objects.filter(condition=one).order_by().values("topic"))


# Files


def file_lines(condition: Condition, form: str) -> Iterator[str]:
    """Return the lines of a file of matched banks: "json" for what they come to, "csv" for the matches."""
    return iter([matched_json(condition) + "\n"]) if form == "json" else write_table(_COLUMNS, _rows(condition))


def _rows(condition: Condition) -> Iterator[Sequence[object]]:
    """Yield a row for each match, and one for each nugget without any, of topics that are matched."""
    for row in topic_rows(condition):
        if row.matching is None:
            continue
        told = (row.matching.judge.name, row.matching.at.isoformat())
        of_first, alone = lines(row)
        for line in of_first:
            matches: list[Json | None] = [one for _, one in line.matches]
            for match in matches or [None]:
                yield row.topic.qid, *_cells(line.nugget), *_cells(match), *told
        for _, nugget in alone:
            yield row.topic.qid, *_cells(None), *_cells(nugget), *told


def _cells(nugget: Json | None) -> tuple[str, str, str]:
    return (nugget["uid"], nugget["text"], nugget["importance"]) if nugget else ("", "", "")


def matched_json(condition: Condition) -> str:
    """Return what two banks come to side by side as JSON."""
    found = matched_banks(condition)
    told: Json = {
        "condition": condition.name,
        "identity": condition.identity,
        "first": str(condition.nuggets),
        "second": str(condition.other_nuggets),
        "topics": len(found.rows),
        "matched": len(found.matched),
        "outdated": found.outdated,
        **_told(found.found, found.importance, found.at_least),
        "rankings": [
            {
                "first": one.first.name,
                "second": one.second.name,
                "measure": one.measure.key,
                "topics": one.topics,
                "tau": statistic_json(one.tau),
            }
            for one in found.rankings
        ],
        "by_topic": {
            row.topic.qid: {"matched_by": row.matching.judge.name, **_told(row.found, row.importance, row.at_least)}
            for row in found.matched
            if row.matching and row.found and row.importance is not None and row.at_least
        },
    }
    return to_json(told)


def _told(found: Matched, importance: Counts, at_least: AtLeast) -> Json:
    return {
        "nuggets": {"first": found.first, "second": found.second},
        "recall": statistic_json(found.recall),
        "precision": statistic_json(found.precision),
        "importance": {
            "labels": list(IMPORTANCE),
            "matrix": importance.tolist(),
            "kappa": statistic_json(kappa(importance)),
        },
        "facts": {"first": found.facts.first, "second": found.facts.second, "both": found.facts.both},
        "facts_at_least": {
            "estimate": number(at_least.total),
            "low": number(at_least.low),
            "high": number(at_least.high),
            "seen": at_least.seen,
            **({"why": at_least.why} if at_least.why else {}),
        },
    }
