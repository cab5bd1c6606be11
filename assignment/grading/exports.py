"""Grades in the field's form."""

import json
from collections.abc import Collection, Iterator

from assessor.campaigns.models import Condition, Run, Topic
from assignment.exports import assignment_lines
from assignment.grading.formats import write_grade


def grade_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's grades, a line for each question of an answer, by topic id, run's tag and bank order.

    Which ones is as assignment_lines() says. Where no grade counts there is no line.
    """
    for line in assignment_lines(condition, topics, runs):
        answer = json.loads(line)
        for one in answer["nuggets"]:
            grade, question = one.pop("assignment", None), one.pop("text")
            one.pop("importance", None)
            if grade is not None:
                yield write_grade(answer["run_id"], answer["qid"], question, answer["answer_text"], grade, one)
