"""Panels: labels and scores that follow from those of several conditions, computed whenever they are read."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition, Run
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import states_of
from assessor.scores.label_table import numbered_table
from assessor.scores.loading import Labels
from assessor.scores.score_source import scoring_of
from assessor.studies.models import SampledItem, Study
from assessor.studies.queries import judges_of_all
from assessor.studies.sampling import Key, sampling_of
from metaeval.stats import panels
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Codes, Figures
from metaeval.stats.panels import DawidSkene, Flags, PanelLabels, Rule, Ties

Found = TypeVar("Found")
RULE_WORDS = {
    Rule.MAJORITY: "majority",
    Rule.MEDIAN: "median",
    Rule.MEAN: "mean of scores",
    Rule.UNANIMOUS: "unanimous or people",
    Rule.DAWID_SKENE: "Dawid-Skene",
}
ONE_FAMILY = "panel of one family"
_RULE = np.int8(64)  # no kind has as many labels
TIED = (Rule.MAJORITY, Rule.MEDIAN)  # the rules by which several labels could count


class Settings(NamedTuple):
    """How a panel's labels follow from its members'."""

    members: Sequence[str]
    rule: Rule
    ties: Ties
    quorum: int

    @property
    def routes(self) -> bool:
        """Whether it leaves labels to people."""
        return self.rule == Rule.UNANIMOUS or (self.rule != Rule.MEAN and self.ties == Ties.PEOPLE)


class PanelTable(NamedTuple):
    """What a panel makes of each thing that any of its members labelled, in arrays (things,).

    labels: the panel's, NO_VALUE for none. given: the members', (members, things). is_open: which are left to people by
    the rule; by_people: of these, which have people's label; is_tied: on which people tie. fitted: where the rule is
    Dawid and Skene's; problem: why there are no labels, or "".
    """

    labels: Labels
    given: Codes
    is_open: Flags
    by_people: Flags
    is_tied: Flags
    fitted: DawidSkene | None
    problem: str


def settings_of(panel: Condition) -> Settings:
    """Return how a panel's labels follow from its members'."""
    told = panel.panel
    return Settings(told["members"], Rule(told["rule"]), Ties(told["ties"] or Ties.STRICTER), told["quorum"])


def is_soft(condition: Condition) -> bool:
    """Say whether a condition is a panel that has scores and no labels."""
    return condition.is_panel and settings_of(condition).rule == Rule.MEAN


def soft_panels(campaign: Campaign) -> list[int]:
    """Return the keys of a campaign's panels that have scores and no labels."""
    panels = Condition.objects.filter(campaign=campaign, method=Condition.PANEL)
    return [one.pk for one in panels if is_soft(one)]


def panel_table(panel: Condition, topic: int | None = None) -> PanelTable:
    """Return what a panel makes of its members' labels, and of those that people gave of what they left open.

    topic: of this one alone, by key, where the rule does not depend on others.
    """
    settings, scoring = settings_of(panel), scoring_of(panel.kind)
    is_fitted = settings.rule == Rule.DAWID_SKENE
    parts = [
        (scoring.load_with_labels(one) if topic is None or is_fitted else scoring.load_topic(one, topic))[1]
        for one in panel.members
    ]
    # One table of both: the label, and with _RULE added where a rule gave it.
    both, first = numbered_table([one._replace(code=one.code + _RULE * one.by_rule) for one in parts])
    is_missing = both == NO_VALUE
    given: Codes = np.where(is_missing, np.int8(NO_VALUE), both % _RULE).astype(np.int8)
    is_by_rule: Flags = (is_missing | (both >= _RULE)).all(axis=0)
    columns = [np.concatenate(column)[first] for column in zip(*parts, strict=True)]
    things = Labels(*columns)
    labels = len(label_kind(panel.kind).labels)
    fitted, problem = None, ""
    if settings.rule == Rule.MEAN:
        found = PanelLabels(np.full(given.shape[1], NO_VALUE, dtype=np.int8), np.zeros(given.shape[1], dtype=bool))
    elif is_fitted:
        try:
            fitted = panels.dawid_skene(given, things.topic, labels, ~is_by_rule & _of_systems(things.run))
        except ValueError as error:
            problem = str(error)
            found = PanelLabels(np.full(given.shape[1], NO_VALUE, dtype=np.int8), np.zeros(given.shape[1], dtype=bool))
        else:
            found = panels.most_likely(given, fitted.posterior, settings.quorum, settings.ties)
    elif settings.rule == Rule.UNANIMOUS:
        found = panels.unanimous(given, labels, settings.quorum)
    else:
        by_votes = {Rule.MAJORITY: panels.majority, Rule.MEDIAN: panels.median}[settings.rule]
        found = by_votes(given, labels, settings.quorum, settings.ties)
    codes = found.codes.copy()
    by_people, is_tied = _take_peoples(panel, things, found.is_open, codes)
    labels_of_panel = things._replace(code=codes, by_rule=is_by_rule)
    return PanelTable(labels_of_panel, given, found.is_open, by_people, is_tied, fitted, problem)


def _of_systems(runs: npt.NDArray[Any]) -> Flags:
    controls = Run.objects.filter(pk__in=np.unique(runs).tolist(), task=CONTROL).values_list("pk", flat=True)
    return ~np.isin(runs, list(controls))


def panel_labels(panel: Condition, topic: int | None = None) -> Labels:
    """Return the labels of a panel; nothing of what has none."""
    labels = panel_table(panel, topic).labels
    return Labels(*(column[labels.code != NO_VALUE] for column in labels))


# What people label


def routings_of(panel: Condition) -> list[Study]:
    """Return the studies in which people label what a panel leaves open, in the order in which they were drawn."""
    return list(Study.objects.filter(panel=panel).select_related("campaign").order_by("pk"))


def routed_states(conditions: Iterable[Condition]) -> dict[int, tuple[Any, ...]]:
    """Name the state of what people labelled of what those conditions that are panels leave open, by their keys."""
    wanted = [one.pk for one in conditions if one.is_panel]
    found: dict[int, tuple[Any, ...]] = dict.fromkeys(wanted, ())
    studies = list(Study.objects.filter(panel__in=wanted).order_by("pk")) if wanted else []
    judges = judges_of_all(studies)
    states = states_of([judge for of_study in judges.values() for judge in of_study])
    for study in studies:
        assert study.panel_id is not None, "asked for"
        found[study.panel_id] += ((study.pk, *(states[judge.pk] for judge in judges[study.pk])),)
    return found


def _take_peoples(panel: Condition, things: Labels, is_open: Flags, codes: Codes) -> tuple[Flags, Flags]:
    """Put in people's labels of open things, where more gave one than any other.

    Return which things these are, and on which people tie.
    """
    taken, is_tied = np.zeros((2, len(codes)), dtype=bool)
    said = peoples_labels(panel) if is_open.any() else {}
    if not said:
        return taken, is_tied
    known = label_kind(panel.kind).labels
    for at, named in _named(panel, things, is_open, {answer for answer, _ in said}).items():
        given = np.array([[known.index(label)] for label in said.get(named, ())], dtype=np.int8)
        if len(given):
            code = panels.majority(given, len(known), 1, Ties.PEOPLE).codes[0]
            if code != NO_VALUE:
                codes[at], taken[at] = code, True
            is_tied[at] = code == NO_VALUE
    return taken, is_tied


def peoples_labels(panel: Condition) -> dict[tuple[int, str], list[str]]:
    """Return people's labels of what a panel leaves open, by the answer's key and the item's stored name."""
    studies = routings_of(panel)
    judges = judges_of_all(studies)
    by, found = sampling_of(panel.kind), defaultdict(list)
    for study in studies:
        drawn = list(study.drawn.order_by("pk"))
        people = [one for one in judges[study.pk] if one.is_peoples]
        for labels in by.labels_of({judge.pk: drawn for judge in people}).values():
            for one in drawn:
                if one.pk in labels:
                    found[one.answer_id, one.item].append(labels[one.pk])
    return dict(found)


def _named(panel: Condition, things: Labels, are_wanted: Flags, answers: Collection[int]) -> dict[int, tuple[int, str]]:
    """Return the answer's key and the stored name of some things, by their places. answers: of these alone."""
    by = sampling_of(panel.kind)
    at = np.flatnonzero(are_wanted & np.isin(things.owner, list(answers))).tolist()
    keys: dict[int, Key] = {
        place: (owner, by.key_of(item))
        for place, owner, item in zip(at, things.owner[at].tolist(), things.item[at].tolist(), strict=True)
    }
    names = by.names(set(keys.values()))
    return {place: (key[0], names[key]) for place, key in keys.items()}


def drawn_before(panel: Condition) -> set[tuple[int, str]]:
    """Return what studies of a panel have drawn, by the answer's key and the item's stored name."""
    return set(SampledItem.objects.filter(study__panel=panel).values_list("answer", "item"))


def open_items(panel: Condition, table: PanelTable) -> list[SampledItem]:
    """Return what a panel leaves to people and no study of it has drawn yet, of systems, with two members' labels."""
    answers = Answer.objects.filter(pk__in=np.unique(table.labels.owner[table.is_open]).tolist(), apart=False)
    if not panel.of_passages:
        answers = answers.exclude(run__task=CONTROL)
    drawn = drawn_before(panel)
    names = _named(panel, table.labels, table.is_open, list(answers.values_list("pk", flat=True)))
    known = label_kind(panel.kind).labels
    first, second = ([known[code] if code != NO_VALUE else "" for code in row.tolist()] for row in table.given[:2])
    return [
        SampledItem(answer_id=named[0], item=named[1], first_label=first[at], second_label=second[at])
        for at, named in names.items()
        if named not in drawn
    ]


# Scores


def codes_by_answer(panel: Condition, topic: int | None = None) -> dict[int, dict[int, int]]:
    """Return the places of a panel's labels in its kind's, by answer's key and item as Labels has it."""
    labels = panel_labels(panel, topic)
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for owner, item, code in zip(labels.owner.tolist(), labels.item.tolist(), labels.code.tolist(), strict=True):
        found[owner][item] = code
    return found


def mean_of_members(panel: Condition, load: Callable[[Condition], Found]) -> Found:
    """Return the scores of a panel that are the means of its members'. load: returns a member's, as Scores has them.

    A cell is complete where a quorum of members is, and else incomplete where any member has an answer.
    """
    found: list[Any] = [load(one) for one in panel.members]
    runs = {run.pk: run for one in reversed(found) for run in one.runs}
    topics = {topic.pk: topic for one in reversed(found) for topic in one.topics}
    in_order = sorted(runs.values(), key=lambda run: run.tag), sorted(topics.values(), key=lambda topic: topic.qid)
    row, column = ({one.pk: at for at, one in enumerate(records)} for records in in_order)
    size = (len(found), len(row), len(column))
    scores: Figures = np.full((*size, len(found[0].measures.all)), np.nan)
    states = np.full(size, INCOMPLETE, dtype=np.int8)
    for at, one in enumerate(found):
        place = np.ix_([row[run.pk] for run in one.runs], [column[topic.pk] for topic in one.topics])
        scores[at][place], states[at][place] = one.scores, one.states
    quorum = settings_of(panel).quorum
    means = panels.mean_scores(scores, states == COMPLETE, quorum)
    is_complete = (states == COMPLETE).sum(axis=0) >= quorum
    is_unanswered = states == UNANSWERED
    nobody = is_unanswered.any(axis=0) & ~np.isin(states, (COMPLETE, OUTSIDE)).any(axis=0)
    outside = (states == OUTSIDE).sum(axis=0) > len(found) - quorum
    state = np.select([is_complete, outside, nobody], [COMPLETE, OUTSIDE, UNANSWERED], INCOMPLETE).astype(np.int8)
    of_empty = np.take_along_axis(scores, is_unanswered.argmax(axis=0)[np.newaxis, ..., np.newaxis], axis=0)[0]
    means[state == UNANSWERED] = of_empty[state == UNANSWERED]
    result: Found = found[0]._replace(runs=in_order[0], topics=in_order[1], scores=means, states=state)
    return result


# Whose models


def one_family(members: Iterable[Condition]) -> str:
    """Return the family of all members' models; "" where they are of several, or one's is not known."""
    families = {one.judge.family if one.judge else "" for one in members}
    return families.pop() if len(families) == 1 else ""


def condition_marks(conditions: Sequence[Condition]) -> dict[int, str]:
    """Return what tables say beside the names of panels whose models are all of one family, by key."""
    return {pk: ONE_FAMILY for pk, members in Condition.members_of(conditions).items() if one_family(members)}
