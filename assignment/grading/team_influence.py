"""How much a ranking owes to the questions that a team's own answers brought, where a bank was made from answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assessor.campaigns.models import Condition
from assessor.runtime.process_cache import cache
from assessor.scores.loading import Labels, RunName
from assignment.grading.measures import MISSING, USUAL
from assignment.score_arrays import Scores
from metaeval.stats.correlation import largest_drop, taus
from metaeval.stats.means import UNANSWERED, Codes, Figures
from nuggets.models import Drafting, Nugget


class TopicGrades(NamedTuple):
    """The grades on a topic: (runs, questions), MISSING where there is none; and which teams brought each question."""

    codes: Codes
    brought_by: Sequence[Set[str]]


class WithoutTeam(NamedTuple):
    """A ranking by the questions that a team did not bring, against that by all.

    questions: left out; topics: on which one is left. tau: Kendall's tau-b of the runs' means; None where one side's
    are all equal. drop: the most places that a run loses where the questions are left out; run: which.
    """

    team: str
    questions: int
    topics: int
    tau: float | None
    drop: int
    run: str


def leave_out_teams(topics: Sequence[TopicGrades], runs: Sequence[str]) -> list[WithoutTeam]:
    """Leave the questions of one team after another out, and rank the runs by cover of the others from grade 4 on.

    A mean is over the topics on which a question is left. By the least agreement first, then by name.
    """
    teams = sorted({team for topic in topics for of_question in topic.brought_by for team in of_question})
    everything = _means(topics, [np.ones(len(topic.brought_by), dtype=bool) for topic in topics])
    found = []
    for team in teams:
        kept = [np.array([team not in one for one in topic.brought_by], dtype=bool) for topic in topics]
        means = _means(topics, kept)
        drop = largest_drop(everything, means)
        tau = float(taus(np.where(np.isnan(means), np.nan, everything)[None], means[None])[0])
        found.append(
            WithoutTeam(
                team,
                int(sum((~of_topic).sum() for of_topic in kept)),
                int(sum(of_topic.any() for of_topic in kept)),
                None if np.isnan(tau) else tau,
                int(drop.places.value or 0),
                "" if drop.place is None else runs[drop.place],
            )
        )
    return sorted(found, key=lambda one: (one.tau is None, one.tau or 0.0))


def _means(topics: Sequence[TopicGrades], kept: Sequence[npt.NDArray[np.bool_]]) -> Figures:
    """Return the runs' means over topics of the share of the kept questions that they cover; NaN where none counts."""
    cells = []
    for topic, of_topic in zip(topics, kept, strict=True):
        if of_topic.any():
            codes = topic.codes[:, of_topic]
            cells.append(np.where((codes == MISSING).any(axis=1), np.nan, (codes >= USUAL).mean(axis=1)))
    if not cells:
        return np.full(len(topics[0].codes) if topics else 0, np.nan)
    by_topic = np.stack(cells)
    counted = ~np.isnan(by_topic)
    sums = np.where(counted, by_topic, 0).sum(axis=0)
    means: Figures = np.full(by_topic.shape[1], np.nan)
    np.divide(sums, counted.sum(axis=0), out=means, where=counted.any(axis=0))
    return means


def influence_of_teams(condition: Condition, found: Scores, load: Callable[[], Labels]) -> list[WithoutTeam]:
    """Return what leaving each team's questions out changes under a condition whose bank was made from answers.

    found: its scores; load: reads the grades that they come from. Kept as long as the scores are the same.
    """
    key, state = f"influence.{condition.pk}", (found.runs, found.scores.tobytes(), found.states.tobytes())
    known = cache.get(key)
    if not known or known[0] != state:
        systems = [run for run in found.runs if not run.is_control]
        grades = list(_grades(condition, found, load(), systems))
        known = state, leave_out_teams(grades, [run.tag for run in systems])
        cache.set(key, known, timeout=None)
    rows: list[WithoutTeam] = known[1]
    return rows


def _grades(condition: Condition, found: Scores, labels: Labels, runs: Sequence[RunName]) -> Iterator[TopicGrades]:
    """Yield the grades of systems' answers, by topic. A topic that was not answered covers nothing."""
    teams = {run.tag: run.team or run.tag for run in found.runs}
    brought = _brought_by(condition, teams)
    row = {run.pk: at for at, run in enumerate(runs)}
    place = {run.pk: at for at, run in enumerate(found.runs)}
    for at, topic in enumerate(found.topics):
        of_topic = labels.topic == topic.pk
        questions, columns = np.unique(labels.item[of_topic], return_inverse=True)
        codes = np.full((len(runs), len(questions)), MISSING, dtype=np.int8)
        codes[[found.states[place[run.pk], at] == UNANSWERED for run in runs]] = 0
        for run, column, code in zip(labels.run[of_topic].tolist(), columns, labels.code[of_topic], strict=True):
            if run in row:
                codes[row[run], column] = code
        yield TopicGrades(codes, [brought.get(question, frozenset()) for question in questions.tolist()])


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
