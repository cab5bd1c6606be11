"""What can be exported of candidates for banks."""

from assessor.exportables import Exportable, Form, Order, Page, always, of_conditions, only_of
from nuggets.candidates.condition_kind import CANDIDATES
from nuggets.candidates.queries import candidate_conditions
from nuggets.candidates.report import file_lines, seen_in_candidates

EXPORTABLES = (
    Exportable(
        "candidates",
        "Candidates for banks: supported sentences of answers that state no nugget",
        {"csv": Form("CSV", "csv", heads=1), "json": Form("JSON", "json")},
        lambda it: file_lines(it.record, it.form),
        lambda it: 0,
        Order.COMPARISONS,
        of_conditions("condition in which candidates are looked for", candidate_conditions),
        label="Candidates for banks",
        of_labels=always,
        shows=lambda it: seen_in_candidates(it.record),
        frozen=only_of(CANDIDATES.name),
        freezes=("csv",),
        page=Page("candidates_file", "candidates/<int:condition_id>/files/<str:form>"),
    ),
)
