"""The scores of a condition without the nuggets that one team brought: alone, by its passages, or by its answers."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from assessor.campaigns.models import CONTROL, Answer, Condition
from assessor.campaigns.queries import among, own_answers, pooled
from assessor.scores.cache import kept_in_state, state_of
from assessor.scores.loading import Keys, Labels, RunName, as_stored, parsed
from assessor.scores.reusability import WithoutTeams
from assessor.scores.tables import counted_cells, systems_in
from assignment.label_kind import kind_of_nuggets
from assignment.measures import MISSING
from assignment.queries import scored_editions
from assignment.score_arrays import IMPORTANCE, Scores, TopicLabels, left_out_nuggets
from metaeval.stats.means import UNANSWERED, Codes, Figures, Policy, mean
from metaeval.stats.reusability import Mask, TopicNuggets, attested_alone, means_without_teams
from nuggets.models import Drafting, Nugget

_AT_A_TIME = 2_000
_OTHERS = ""  # who contributed a passage and is no team with a scored run
Load = Callable[[], tuple[Scores, Labels]]
Formula = Callable[[TopicLabels], Figures]


class _Topic(NamedTuple):
    """A topic with the nuggets that count there, as its edition has them, and their labels, (runs, nuggets)."""

    pk: int
    nuggets: list[dict[str, Any]]
    codes: Codes


def without_teams(condition: Condition, policy: Policy, load: Load, formula: Formula) -> WithoutTeams:
    """Score a condition without the nuggets of each team. load, formula: of its scores."""
    return kept_in_state(
        f"without_teams.{condition.pk}.{policy}",
        state_of(condition),
        lambda: _without_teams(condition, policy, *load(), formula),
    )


def _without_teams(
    condition: Condition, policy: Policy, found: Scores, labels: Labels, formula: Formula
) -> WithoutTeams:
    is_system = systems_in(found)
    runs = [run for run, listed in zip(found.runs, is_system.tolist(), strict=True) if listed]
    team_of = {run.pk: run.team or run.tag for run in runs}
    teams = sorted(set(team_of.values()))
    topics = list(_topics(condition, found, labels, runs))
    brings = _by_answers if condition.is_from_runs else _by_passages
    basis, left_out, unattested = brings(condition, topics, runs, teams)
    cells = counted_cells(found, policy)[is_system]
    best = len(kind_of_nuggets(condition).labels) - 1
    of_topics = [_nuggets_of(topic, by_team, formula, best) for topic, by_team in zip(topics, left_out, strict=True)]
    # By topic and team: how many nuggets go, and whether any is left.
    gone = np.array([one.sum(axis=1) for one in left_out], dtype=np.int64).reshape(len(topics), len(teams))
    remains = np.array([~one.all(axis=1) for one in left_out], dtype=bool).reshape(len(topics), len(teams))
    return WithoutTeams(
        basis=basis,
        runs=runs,
        teams=teams,
        own=np.array([[team_of[run.pk] == team for run in runs] for team in teams], dtype=bool).reshape(
            len(teams), len(runs)
        ),
        scores=mean(cells, axis=1),
        without=means_without_teams(cells, of_topics, len(teams)),
        left_out=gone.sum(axis=0).tolist(),
        topics=remains.sum(axis=0).tolist(),
        nuggets=sum(len(topic.nuggets) for topic in topics),
        unattested=unattested,
    )


def _topics(condition: Condition, found: Scores, labels: Labels, runs: Sequence[RunName]) -> Iterator[_Topic]:
    """Yield the topics in the order of the scores. A run that gave no answer has the labels of an empty one."""
    out = left_out_nuggets(condition)
    editions = {edition.bank.topic_id: edition for edition in scored_editions(condition)}
    is_system = systems_in(found)
    row = {run.pk: at for at, run in enumerate(runs)}
    of_topic = labels.by_topic()
    for at, topic in enumerate(found.topics):
        nuggets = [one for one in editions[topic.pk].nuggets if one["id"] not in out]
        codes = np.full((len(runs), len(nuggets)), MISSING, dtype=np.int8)
        codes[found.states[is_system, at] == UNANSWERED] = 0
        if topic.pk in of_topic:
            column = {nugget["id"]: place for place, nugget in enumerate(nuggets)}
            rows, columns, given = of_topic[topic.pk].placed(row, column)
            codes[rows, columns] = given
        yield _Topic(topic.pk, nuggets, codes)


def _nuggets_of(topic: _Topic, left_out: Mask, formula: Formula, best: int) -> TopicNuggets:
    """Return how a topic's nuggets score its runs. best: the highest label."""
    codes = np.vstack([topic.codes, np.full((1, len(topic.nuggets)), best, dtype=np.int8)])
    importance = [IMPORTANCE[nugget["importance"]] for nugget in topic.nuggets]
    is_no_run = np.arange(len(codes)) == len(topic.codes)

    def score(keeps: Mask) -> Figures:
        kept = [one for one, is_kept in zip(importance, keeps.tolist(), strict=True) if is_kept]
        return formula(TopicLabels(codes[:, keeps], kept, np.zeros(len(codes)), is_no_run))

    possible = score(np.ones(len(importance), dtype=bool))[-1] > 0

    def score_runs(keeps: Mask) -> Figures:
        found = score(keeps)
        # Where no answer can score any more, 0 would say nothing of an answer.
        return np.where(possible & ~(found[-1] > 0), np.nan, found[:-1])

    return TopicNuggets(score_runs, left_out)


def _by_passages(
    condition: Condition, topics: Sequence[_Topic], runs: Sequence[RunName], teams: Sequence[str]
) -> tuple[str, list[Mask], int]:
    """Return which nuggets of each topic a team alone attests, by evidence and the references of gold answers."""
    evidence = [[_docids(nugget) for nugget in topic.nuggets] for topic in topics]
    wanted = {topic.pk: set().union(*of) for topic, of in zip(topics, evidence, strict=True)}
    basis, contributed = _contributed(condition, wanted, runs)
    team_at = {team: at for at, team in enumerate((*teams, _OTHERS))}
    left_out = []
    for topic, of_nuggets in zip(topics, evidence, strict=True):
        docid_at = {docid: at for at, docid in enumerate(sorted(wanted[topic.pk]))}
        brought = np.zeros((len(team_at), len(docid_at)), dtype=bool)
        by_team = [(team_at[team], at) for docid, at in docid_at.items() for team in contributed[topic.pk, docid]]
        brought[_places(by_team)] = True
        attests = np.zeros((len(of_nuggets), len(docid_at)), dtype=bool)
        attests[_places([(at, docid_at[docid]) for at, docids in enumerate(of_nuggets) for docid in docids])] = True
        left_out.append(attested_alone(brought, attests)[:-1])
    return basis, left_out, sum(not one for of in evidence for one in of)


def _places(pairs: Sequence[tuple[int, int]]) -> tuple[Keys, ...]:
    """Return rows and columns as an array's index has them."""
    return tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)


def _docids(nugget: Mapping[str, Any]) -> set[str]:
    """Return the passages that a nugget, or a gold answer of a question, is said to come from."""
    gold = [one for answer in nugget.get("gold") or () for one in answer.get("references") or ()]
    return {one["docid"] for one in (*nugget["evidence"], *gold)}


def _contributed(
    condition: Condition, wanted: Mapping[int, Set[str]], runs: Sequence[RunName]
) -> tuple[str, dict[tuple[int, str], set[str]]]:
    """Return which teams contributed passages, by topic's key and docid. wanted: of which docids, by topic's key.

    By the first of each retrieval run where one is a team's: it has the tag of a scored run, or the team's name before
    its first dot. Else by what answers cite.
    """
    nuggets = condition.nuggets
    assert nuggets is not None, "nuggets of another condition are labelled there"
    found: dict[tuple[int, str], set[str]] = defaultdict(set)
    teams = {run.team or run.tag for run in runs}
    by_tag = {run.tag: run.team or run.tag for run in runs}
    retrieval = {
        pk: by_tag.get(tag) or (tag.split(".")[0] if tag.split(".")[0] in teams else _OTHERS)
        for pk, tag in condition.campaign.retrieval_runs.values_list("pk", "tag")
    }
    if any(retrieval.values()):
        ranked = pooled(condition.campaign, nuggets.protocol).filter(topic__in=list(wanted)).order_by()
        for run, topic, docid in ranked.values_list("run", "topic", "docid").iterator(_AT_A_TIME):
            if docid in wanted[topic] and run in retrieval:
                found[topic, docid].add(retrieval[run])
        return f"the first {nuggets.protocol.pool_depth} passages of each retrieval run", found
    team_of = {run.pk: run.team or run.tag for run in runs}
    for topic, run, docids in _cited(wanted):
        for docid in docids:
            found[topic, docid].add(team_of.get(run, _OTHERS))
    return "what answers cite", found


def _cited(wanted: Mapping[int, Set[str]]) -> Iterator[tuple[int, int, Set[str]]]:
    """Yield the keys of topic and run, and what it cites of the docids wanted there, of each answer of a system."""
    answers = own_answers([topic for topic, docids in wanted.items() if docids]).exclude(run__task=CONTROL).order_by()
    rows = answers.values_list("pk", "topic", "run", *as_stored("references")).iterator(_AT_A_TIME)
    found: dict[int, tuple[int, int, dict[int, str]]] = {}  # the wanted references by their places, by answer's key
    while some := list(islice(rows, _AT_A_TIME)):
        for (pk, topic, run, _), references in zip(some, parsed(row[-1] for row in some), strict=True):
            # An answer with references cites nothing else, so that few texts need to be read.
            if not references or not wanted[topic].isdisjoint(references):
                docid_at = {at: docid for at, docid in enumerate(references) if docid in wanted[topic]}
                found[pk] = topic, run, docid_at
    texts = Answer.everything.filter(pk__in=among(found)).order_by().values_list("pk", *as_stored("content"))
    for pk, content in texts.iterator(_AT_A_TIME) if found else ():
        topic, run, docid_at = found[pk]
        cited = {citation for sentence in json.loads(content) for citation in sentence["citations"]}
        yield topic, run, wanted[topic] & {docid_at.get(one, one) for one in cited}


def _by_answers(
    condition: Condition, topics: Sequence[_Topic], runs: Sequence[RunName], teams: Sequence[str]
) -> tuple[str, list[Mask], int]:
    """Return which questions of each topic a team's answers brought, where they were made from answers."""
    all_runs = condition.campaign.runs.values_list("tag", "team")
    brought = _brought_by(condition, {tag: team or tag for tag, team in all_runs})
    of_topics = [[brought.get(one["id"], frozenset()) for one in topic.nuggets] for topic in topics]
    left_out = [np.array([[team in one for one in of] for team in teams], dtype=bool) for of in of_topics]
    return "the answers that questions were made from", left_out, sum(not one for of in of_topics for one in of)


def _brought_by(condition: Condition, teams: Mapping[str, str]) -> dict[int, frozenset[str]]:
    """Return the teams whose answers were read when a question first stood on the model's list, by nugget's key.

    All answers of a round count. A question that people made of others was brought by the teams of these; one that they
    wrote by nobody.
    """
    found: dict[int, frozenset[str]] = {}
    lists: dict[int, list[frozenset[str]]] = {}
    for topic, steps in Drafting.objects.filter(condition=condition.nuggets).values_list("topic", "steps"):
        rounds: dict[str, frozenset[str]] = {}
        for step in steps:
            of_round = frozenset(teams.get(tag, tag) for tags in step.get("runs", ()) for tag in tags)
            for text in step["nuggets"]:
                rounds.setdefault(text, of_round)
        lists[topic] = [rounds[text] for text in steps[-1]["nuggets"]] if steps else []
    nuggets = Nugget.objects.filter(bank__condition=condition.nuggets).order_by("pk")
    by_uid: dict[tuple[int, str], frozenset[str]] = {}
    for pk, bank, topic, uid, draft, parents in nuggets.values_list(
        "pk", "bank", "bank__topic", "uid", "draft", "parents"
    ):
        on_list = lists.get(topic, [])
        own = [on_list[draft - 1]] if draft and draft <= len(on_list) else []
        of_parents = [by_uid.get((bank, parent), frozenset()) for parent in parents]
        found[pk] = by_uid[bank, str(uid)] = frozenset().union(*own, *of_parents)
    return found
