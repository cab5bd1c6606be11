"""What a label counts in scores: its value and weight by measure, in which answer's, run's and topic's scores."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.urls import reverse

from assessor.campaigns.models import Answer, Condition
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import POLICY_WORDS, STATES
from assessor.scores.loading import Scores
from assessor.scores.score_source import scoring_of
from metaeval.stats.means import Policy, run_scores


class Row(NamedTuple):
    """A measure. value, weight: the label's, empty where it has none there; answer, run: as score tables print them."""

    measure: str
    value: str
    weight: str
    answer: str
    run: str


class Score(NamedTuple):
    """Where a label of an answer ends. state: of the answer in the scores, or why it is in none; rows: none then."""

    answer: Answer
    state: str
    rows: Sequence[Row] = ()
    topics: int = 0
    policy: str = ""
    topic_page: str = ""
    run_page: str = ""


def scores_of(sheet: Any, item: str) -> list[Score]:
    """Return what the label of an item counts now, in the scores of each answer that it is about."""
    if sheet.condition.sample:
        return [Score(answer, "labels of a study's sample are in no scores") for answer in sheet.answers]
    found, parts = condition_scores(sheet.condition), _parts(sheet, item)
    return [_score(sheet.condition, answer, found, parts) for answer in sheet.answers]


def _score(condition: Condition, answer: Answer, found: Scores, parts: Mapping[str, tuple[str, str]]) -> Score:
    runs, topics = [run.pk for run in found.runs], [topic.pk for topic in found.topics]
    if answer.run_id not in runs or answer.topic_id not in topics:
        return Score(answer, "in no scores")
    run, topic = runs.index(answer.run_id), topics.index(answer.topic_id)
    of_answer = found.measures.rounded(found.scores[run, topic].tolist(), "—")
    means = run_scores(found.scores[[run]], found.states[[run]], Policy.ZERO)[0]
    of_run = found.measures.rounded(means.tolist(), "—")
    slug, pk = condition.campaign.slug, condition.pk
    return Score(
        answer,
        state=STATES[found.states[run, topic]],
        rows=[
            Row(key, *parts.get(key, ("", "")), own, mean)
            for key, own, mean in zip(found.measures.keys, of_answer, of_run, strict=True)
        ],
        topics=len(topics),
        policy=POLICY_WORDS[Policy.ZERO],
        topic_page=reverse("topic_scores", args=[slug, pk, answer.topic_id]),
        run_page=reverse("run_scores", args=[slug, pk, answer.run_id]),
    )


def _parts(sheet: Any, item: str) -> dict[str, tuple[str, str]]:
    """Return value and weight of the label that counts, as printed, by measure; nothing where none does."""
    kind = sheet.condition.kind
    code = label_kind(kind).code(sheet, item)
    counted = {} if code is None else scoring_of(kind).contribution(sheet, item, code)
    return {key: (f"{value:g}", f"{weight:.4g}") for key, (value, weight) in counted.items()}
