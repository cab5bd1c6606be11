"""Grades in the field's form."""

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import Any

from assessor.campaigns.models import Condition, Run, Topic
from assessor.campaigns.queries import PASSAGES_RUN
from assessor.formats.qrels import write_qrels
from assessor.formats.values import to_json
from assignment.exports import LabelledText, labelled_texts
from assignment.grading.formats import grade_record


def grade_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's grades, a line for each, in the order of grade_records()."""
    return (to_json(record) + "\n" for _, record in grade_records(condition, topics, runs))


def grade_records(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (run's tag, what a line says) of each question of an answer, by topic id, run's tag and bank order.

    Which ones is as labelled_texts() says. Where no grade counts there is nothing.
    """
    for text in labelled_texts(condition, topics, runs):
        about = {"run_id": text.run_id, "qid": text.qid, "answer_text": text.text} | text.extras
        run_id = None if text.run_id == PASSAGES_RUN else about["run_id"]
        for one in text.nuggets:
            grade, question = one.pop("assignment", None), one.pop("text")
            one.pop("importance", None)
            if grade is not None:
                named = run_id, about["qid"], text.docid
                yield text.run_id, grade_record(*named, question, about["answer_text"], grade, one)


def qrels_of_grades(condition: Condition, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield a condition's grades of passages as qrels: of each document the largest one, by topic id and docid.

    As autograde-qrels has it. A document lacks where any of its grades does: it could be the largest.
    """
    by_topic = groupby(labelled_texts(condition, topics), lambda text: text.qid)
    return write_qrels(row for qid, texts in by_topic for row in _largest(qid, texts))


def _largest(qid: str, texts: Iterable[LabelledText]) -> Iterator[tuple[str, str, str, int]]:
    largest: dict[str, int | None] = {}
    for text in texts:
        grades = [one.get("assignment") for one in text.nuggets]
        known = largest.get(text.docid, 0)
        given = [int(grade) for grade in grades if grade is not None]
        largest[text.docid] = None if known is None or len(given) < len(grades) else max(known, *given)
    return ((qid, "0", docid, grade) for docid, grade in sorted(largest.items()) if grade is not None)
