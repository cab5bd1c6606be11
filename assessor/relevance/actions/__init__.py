"""The only writers of judgments: what jobs and people say, and what people are given to grade."""

from assessor.relevance.actions.grades import store_grades
from assessor.relevance.actions.judging import judge, show, undo
from assessor.relevance.actions.preparation import create_relevance, prepare_items, renew_items

__all__ = [
    "create_relevance",
    "judge",
    "prepare_items",
    "renew_items",
    "show",
    "store_grades",
    "undo",
]
