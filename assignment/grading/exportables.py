"""What can be exported of grades."""

from assignment.exportables import of_answers
from assignment.grading.exports import grade_lines
from assignment.grading.label_kind import GRADING

EXPORTABLES = of_answers(
    GRADING,
    "question_grades",
    "Question grades",
    grade_lines,
    "Grades of the questions of each answer under all conditions, side by side",
)
