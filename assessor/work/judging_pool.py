"""Which runs are judged: on a topic under a condition by a rule, and never those that were dropped from the condition.

What is said of other answers stays where it is: their sheets are marked as out of scope, and whoever reads sheets sees
none of these. They count again as soon as the mark is taken away.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Max, Q

from assessor.campaigns.models import CONTROL, Campaign, Condition, Run, Topic
from assessor.work.models import Scope

ALL, NONE = "all", "none"
_PRIORITY = re.compile(r"priority ?<= ?([1-9]\d{0,5})")
_PER_TEAM = re.compile(r"([1-9]\d{0,3}) per team")
RULES = '"all", "none", "priority<=2", "1 per team"'
LEFT, BACK = "left scope", "back in scope"  # the verbs of revisions
NOT_JUDGED = "This answer is not judged under the condition any more."


def folded(rule: str) -> str:
    """Return a rule as it is kept: "all", "none", "priority<=2" or "1 per team". Raises ValueError."""
    rule = " ".join(rule.split()).lower() or ALL
    if rule in (ALL, NONE):
        return rule
    if found := _PRIORITY.fullmatch(rule):
        return f"priority<={found[1]}"
    if found := _PER_TEAM.fullmatch(rule):
        return f"{found[1]} per team"
    raise ValueError(f"a rule: {RULES}")


class RunFacts(NamedTuple):
    """What rules know of a run."""

    pk: int
    tag: str
    team: str
    priority: int | None


def chosen(rule: str, runs: Iterable[RunFacts]) -> set[int]:
    """Return which of the runs a rule means, by key.

    The first of a team are those of the lowest priority, then by tag in byte order; whose priority is unknown come
    last. A run whose team is unknown is a team of its own.
    """
    if rule == ALL:
        return {run.pk for run in runs}
    if found := _PRIORITY.fullmatch(rule):
        return {run.pk for run in runs if run.priority is not None and run.priority <= int(found[1])}
    if found := _PER_TEAM.fullmatch(rule):
        teams: dict[tuple[str, int], list[RunFacts]] = defaultdict(list)
        for run in runs:
            teams[run.team, 0 if run.team else run.pk].append(run)
        first = [sorted(team, key=_in_team)[: int(found[1])] for team in teams.values()]
        return {run.pk for team in first for run in team}
    return set()


def _in_team(run: RunFacts) -> tuple[bool, int, bytes]:
    return run.priority is None, run.priority or 0, run.tag.encode()


class Judged(NamedTuple):
    """Which runs are judged under a condition. rules: by topic's key; dropped, controls: by run's key."""

    rules: dict[int, str]
    dropped: dict[int, str]  # each with the reason
    runs: list[RunFacts]
    controls: frozenset[int]
    known: dict[str, set[int]]  # what rules mean, by rule

    def rule(self, topic: int) -> str:
        """Return the rule of a topic."""
        return self.rules.get(topic, ALL)

    def holds(self, topic: int, run: int) -> bool:
        """Say whether a run's answer to a topic is judged. Control runs, of which no person is asked, always are."""
        if run in self.controls:
            return True
        rule = self.rule(topic)
        if run in self.dropped or rule == NONE:
            return False
        if rule == ALL:
            return True
        if rule not in self.known:
            self.known[rule] = chosen(rule, self.runs)
        return run in self.known[rule]


def runs_of(campaign: Campaign) -> list[RunFacts]:
    """Return what rules know of a campaign's runs; control runs are none of them."""
    rows = Run.objects.filter(campaign=campaign).exclude(task=CONTROL)
    return [RunFacts(*row) for row in rows.order_by("pk").values_list("pk", "tag", "team", "priority")]


def judged_under(condition: Condition, topic: int | None = None) -> Judged:
    """Return which runs are judged under a condition. It may be a new one that is not saved yet.

    topic: on it alone, by its key, without reading the rules of all others.
    """
    rules: dict[int, str] = {}
    dropped: dict[int, str] = {}
    scopes = Scope.objects.filter(condition=condition.pk).order_by("pk")
    for record in scopes if topic is None else scopes.filter(Q(topic=None) | Q(topic=topic)):
        if record.topic_id is not None:
            rules[record.topic_id] = record.rule
        elif record.rule == NONE:
            dropped[record.run_id] = record.reason
        else:
            dropped.pop(record.run_id, None)
    if not dropped and set(rules.values()) <= {ALL}:
        return Judged({}, {}, [], frozenset(), {})
    return of_campaign(condition.campaign, rules, dropped)


class PanelPool(NamedTuple):
    """Which runs are judged under a panel: those that a quorum of its members judge."""

    members: list[Judged]
    quorum: int

    def holds(self, topic: int, run: int) -> bool:
        """Say whether a run's answer to a topic is judged."""
        return sum(one.holds(topic, run) for one in self.members) >= self.quorum


def judging_pool_of(condition: Condition) -> Judged | PanelPool:
    """Return which runs' answers have scores under a condition."""
    if condition.is_panel:
        return PanelPool([judged_under(one) for one in condition.members], condition.panel["quorum"])
    return judged_under(condition)


def of_campaign(campaign: Campaign, rules: dict[int, str], dropped: dict[int, str]) -> Judged:
    """Return which runs of a campaign are judged by some rules, by topic's key, without those that are dropped."""
    controls = Run.objects.filter(campaign=campaign, task=CONTROL).values_list("pk", flat=True)
    return Judged(rules, dropped, runs_of(campaign), frozenset(controls), {})


def newest_words(conditions: Iterable[Condition]) -> dict[int, int]:
    """Name the state of what is judged under conditions, by their keys; nothing of those that judge all."""
    scopes = Scope.objects.filter(condition__in=[condition.pk for condition in conditions])
    return dict(scopes.order_by().values_list("condition").annotate(Max("pk")))


class Moved(NamedTuple):
    """What a change of the scope does to sheets: how many leave it and how many come back."""

    left: int
    back: int


def mark(sheets: Any, condition: Condition, topic: Topic) -> Moved:
    """Mark those of a condition's sheets on a topic that are not judged any more, or are again.

    It is called in a transaction.
    """
    judged = judged_under(condition, topic.pk)
    found = sheets.in_or_out.filter(condition=condition.pk, answer__topic=topic)
    rows = list(found.order_by("pk").values_list("pk", "answer__run", "out_of_scope"))
    is_out = {pk: not judged.holds(topic.pk, run) for pk, run, is_out in rows if is_out == judged.holds(topic.pk, run)}
    # Locked in the order in which all others lock several of them.
    locked = list(sheets.in_or_out.select_for_update(no_key=True, of=("self",)).filter(pk__in=is_out).order_by("pk"))
    gone = [sheet for sheet in locked if is_out[sheet.pk]]
    back = [sheet for sheet in locked if not is_out[sheet.pk]]
    if gone:
        sheets.revise_alike(gone, LEFT, {"out_of_scope": True})
    if back:
        sheets.revise_alike(back, BACK, {"out_of_scope": False})
    return Moved(len(gone), len(back))
