"""Preferences in the field's form, and strengths as a table."""

import math
from collections.abc import Collection, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.labels.manual_setups import is_part
from assessor.preference.formats import aggregate_record, comparison_record
from assessor.preference.models import PreferencePair
from assessor.preference.queries import LACKING
from assessor.preference.scores import strengths_of
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import name_of, shown
from assessor.work.judging_pool import judged_under
from metaeval.stats.preferences import PSEUDO_COUNT, borda, count_wins, net_wins

_STRENGTHS = ("run_id", "team", "task", "condition", "strength", "low", "high", "pseudo_count", "run_set")
_AT_A_TIME = 500


def preference_lines(condition: Condition, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield a condition's preferences by topic id: its comparisons in their order, then each run's aggregate."""
    return (to_json(record) + "\n" for _, record in preference_records(condition, topics))


def preference_records(
    condition: Condition, topics: Collection[Topic] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (topic id, what a line says). Where there is no preference there is no line; a pair has one in all.

    Where but a part is compared again, there is nothing that the comparisons of a topic come to.
    """
    has_aggregates = not is_part(condition)
    for qid, pairs in groupby(_pairs(condition, topics), attrgetter("topic.qid")):
        of_topic = list(pairs)
        for pair in of_topic:
            yield qid, _comparison(pair)
        for record in _aggregates(qid, of_topic) if has_aggregates else ():
            yield qid, record


def _pairs(condition: Condition, topics: Collection[Topic] | None) -> Iterator[PreferencePair]:
    judged = judged_under(condition)
    own = without_practice(PreferencePair.objects.filter(condition=condition)).exclude(LACKING)
    if topics is not None:
        own = own.filter(topic__in=[topic.pk for topic in topics])
    own = own.select_related("topic", "first__run", "second__run").order_by(byte_order("topic__qid"), "position")
    for pair in own.iterator(_AT_A_TIME):
        if judged.holds(pair.topic_id, pair.first.run_id) and judged.holds(pair.topic_id, pair.second.run_id):
            yield pair


def _comparison(pair: PreferencePair) -> dict[str, Any]:
    topic = pair.topic
    told = {
        "query_title": topic.title,
        "query_problem": topic.extras.get("problem_statement"),
        "query_background": topic.extras.get("background"),
    }
    answers = (pair.first, pair.second)
    runs, texts = [answer.run.tag for answer in answers], [answer.text for answer in answers]
    return comparison_record(topic.qid, told, runs, texts, pair.counted or "", pair.raw or {})


def _answers(pairs: list[PreferencePair]) -> tuple[list[Answer], list[Answer]]:
    return [pair.first for pair in pairs], [pair.second for pair in pairs]


def _aggregates(qid: str, pairs: list[PreferencePair]) -> Iterator[dict[str, Any]]:
    tags = sorted({answer.run.tag for pair in pairs for answer in (pair.first, pair.second)})
    place = {tag: at for at, tag in enumerate(tags)}
    firsts, seconds = ([place[one.run.tag] for one in of_pairs] for of_pairs in _answers(pairs))
    wins = count_wins(firsts, seconds, [int(pair.counted or "") for pair in pairs], len(tags))
    points, shares = borda(wins).tolist(), net_wins(wins).tolist()
    for tag in tags:
        better = [other for other in tags if wins[place[tag], place[other]]]
        worse = [other for other in tags if wins[place[other], place[tag]]]
        share = None if math.isnan(shares[place[tag]]) else shown(shares[place[tag]])
        yield aggregate_record(qid, tag, points[place[tag]], share, better, worse)


def strength_lines(condition: Condition) -> Iterator[str]:
    """Return the lines of the strengths of a condition's runs, the strongest first; no run where there is none."""
    found: Any = condition_scores(condition)
    rows, _ = strengths_of(condition, found)
    name, of_all = name_of(condition), (PSEUDO_COUNT, found.run_set)
    return write_table(
        _STRENGTHS,
        (
            (row.run.tag, row.run.team, row.run.task, name, *map(shown, (row.strength, row.low, row.high)), *of_all)
            for row in rows
        ),
    )
