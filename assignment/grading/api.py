"""What the API lists of grades."""

from collections.abc import Collection
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import Condition, Run, Topic
from assessor.exportables import topics_of
from assessor.labels.api import ApiList, LineSchema, Rows
from assignment.grading.exports import grade_records
from assignment.models import AnswerSheet


class QuestionGrade(LineSchema):
    """The grade of a question in an answer: a line of the field's grades files."""

    run_id: str | None
    query_id: str
    nugget_id: Any = None
    question: str
    passage: str
    doc_id: Any = None
    paragraph_idx: Any = None
    grade: int
    reasoning: Any = None
    confidence: Any = None
    addressed_quote: Any = None


def _rows(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> Rows:
    """Yield grades; under a run's tag those of a topic are told apart by their number, from 0."""
    for (qid, tag), of_run in groupby(grade_records(condition, topics, runs), lambda one: (one[1]["query_id"], one[0])):
        for number, (_, item) in enumerate(of_run):
            yield (qid, tag, number), item


def _topics(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> QuerySet[Topic]:
    found = AnswerSheet.objects.filter(condition=condition, answer__topic__in=topics)
    return topics_of(found if runs is None else found.filter(answer__run__in=runs), "answer__topic")


GRADE_LIST = ApiList(
    name="question_grades",
    about="The grades of questions in answers under a condition, by topic id and run's tag, in the order of the bank.",
    schema=QuestionGrade,
    has_runs=True,
    key=(str, str, int),
    rows=_rows,
    topics=_topics,
)
