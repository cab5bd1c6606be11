"""What can be exported of grades."""

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import Exportable, Form, Order, always, judged_answers, of_conditions
from assignment.exportables import labels_seen, of_answers
from assignment.grading.exports import grade_lines, qrels_of_grades
from assignment.grading.label_kind import GRADING
from assignment.models import AnswerSheet
from assignment.queries import labelling


def _of_passages(campaign: Campaign) -> QuerySet[Condition]:
    return labelling(GRADING, campaign).filter(of_passages=True)


EXPORTABLES = (
    *of_answers(
        GRADING,
        "question_grades",
        "Question grades",
        grade_lines,
        "Grades of the questions of each answer under all conditions, side by side",
    ),
    Exportable(
        "rubric_qrels",
        "Largest grade of each passage (qrels)",
        {"txt": Form("qrels", "txt")},
        lambda it: qrels_of_grades(it.record, it.topics),
        lambda it: judged_answers(it, AnswerSheet).count(),
        Order.GRADES,
        of_conditions("grading condition of passages", _of_passages),
        filters=("topics",),
        of_labels=always,
        shows=labels_seen,
        remark=lambda condition: f"RUBRIC by {condition.maker}, with the questions of {condition.nuggets}",
        frozen=lambda condition: condition if condition.kind == GRADING.name and condition.of_passages else None,
        freezes=("txt",),
        releases=("txt",),
    ),
)
