"""What a label counts in scores: its value and weight by measure, in which answer's, run's and topic's scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.urls import reverse

from assessor.campaigns.models import Condition
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import POLICY_WORDS, STATES
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
    """Where a label ends. state: of the answer in the scores, or why it is in none; rows: none where it is in none."""

    state: str
    rows: Sequence[Row] = ()
    topics: int = 0
    policy: str = ""
    topic_page: str = ""
    run_page: str = ""


def score_of(sheet: Any, item: str) -> Score:
    """Return what the label of an item counts now, in the scores that its sheet goes into."""
    condition: Condition = sheet.condition
    if condition.sample:
        return Score("labels of a study's sample are in no scores")
    found = condition_scores(condition)
    runs, topics = [run.pk for run in found.runs], [topic.pk for topic in found.topics]
    if sheet.answer.run_id not in runs or sheet.answer.topic_id not in topics:
        return Score("in no scores")
    run, topic = runs.index(sheet.answer.run_id), topics.index(sheet.answer.topic_id)
    of_answer = found.measures.rounded(found.scores[run, topic].tolist(), "—")
    means = run_scores(found.scores[[run]], found.states[[run]], Policy.ZERO)[0]
    of_run = found.measures.rounded(means.tolist(), "—")
    parts = _parts(sheet, item)
    slug, pk = condition.campaign.slug, condition.pk
    return Score(
        state=STATES[found.states[run, topic]],
        rows=[
            Row(key, *parts.get(key, ("", "")), answer, mean)
            for key, answer, mean in zip(found.measures.keys, of_answer, of_run, strict=True)
        ],
        topics=len(topics),
        policy=POLICY_WORDS[Policy.ZERO],
        topic_page=reverse("topic_scores", args=[slug, pk, sheet.answer.topic_id]),
        run_page=reverse("run_scores", args=[slug, pk, sheet.answer.run_id]),
    )


def _parts(sheet: Any, item: str) -> dict[str, tuple[str, str]]:
    """Return value and weight of the label that counts, as printed, by measure; nothing where none does."""
    kind = sheet.condition.kind
    code = label_kind(kind).code(sheet, item)
    counted = {} if code is None else scoring_of(kind).contribution(sheet, item, code)
    return {key: (f"{value:g}", f"{weight:.4g}") for key, (value, weight) in counted.items()}
