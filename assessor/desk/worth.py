"""What a label counts in scores: its value and weight by measure, in which answer's, run's and topic's scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from django.urls import reverse

from assessor.collection.models import Condition
from assessor.labels.label_kind import label_kind
from assessor.scores.kept import condition_scores
from assessor.scores.leaderboards import POLICY_WORDS, STATES
from assessor.scores.means import Policy, run_scores
from assignment.arrays import IMPORTANCE
from assignment.models import AnswerSheet, LeftOut
from assignment.scores import MEASURES as NUGGET_MEASURES
from assignment.scores import label_values, nugget_weights
from nuggets.models import BankEdition
from support.citations import NOT_JUDGED, places
from support.models import SupportSheet
from support.scores import MEASURES as SUPPORT_MEASURES
from support.scores import label_values as support_values


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
    parts = _of_nugget(sheet, item) if isinstance(sheet, AnswerSheet) else _of_citation(sheet, item)
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


Parts = dict[str, tuple[str, str]]  # value and weight, by measure


def _code(sheet: Any, item: str) -> int | None:
    """Return the place among its kind's of the label that counts: another person's where this one could judge none."""
    labels, label = label_kind(sheet.condition.kind).labels, sheet.labels.get(item) or sheet.adopted.get(item)
    return labels.index(label) if label in labels else None


def _of_nugget(sheet: AnswerSheet, item: str) -> Parts:
    """Return what the label of a nugget counts: nothing where the nugget is left out of the scores."""
    code = _code(sheet, item)
    newest = LeftOut.objects.filter(condition=sheet.condition_id, nugget=int(item)).order_by("pk").last()
    edition = BankEdition.objects.filter(bank=sheet.bank_id, edition=sheet.edition).first()
    nuggets = edition.nuggets if edition else []
    nugget = next((one for one in nuggets if str(one["id"]) == item), None)
    if code is None or nugget is None or (newest and newest.is_out):
        return {}
    values = label_values(np.array([code]))[:, 0].tolist()
    weights = nugget_weights(np.array([IMPORTANCE[nugget["importance"]]]))[:, 0].tolist()
    both = [(value, weight) for weight in weights for value in values]
    return {key: _told(*pair) for key, pair in zip(NUGGET_MEASURES, both, strict=True)}


def _of_citation(sheet: SupportSheet, item: str) -> Parts:
    """Return what the label of a citation counts: by itself where it is its sentence's first, and beside the others."""
    code = _code(sheet, item)
    if code is None:
        return {}
    of_sentence = [key for key in sheet.asked if places(key)[0] == places(item)[0]]
    judged = sum((sheet.labels.get(key) or sheet.adopted.get(key)) != NOT_JUDGED for key in of_sentence)
    is_first = item == min(of_sentence, key=places, default="")
    weighted, hard = support_values(np.array([code]))[:, 0].tolist()
    return {
        key: _told(weighted if key.startswith("weighted") else hard, 1 / judged if key.endswith("_all") else is_first)
        for key in SUPPORT_MEASURES
    }


def _told(value: float, weight: float) -> tuple[str, str]:
    return f"{value:g}", f"{weight:.4g}"
