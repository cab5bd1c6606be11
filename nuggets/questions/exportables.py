"""What can be exported of questions."""

from assessor.exportables import Exportable, Form, Order, Purpose, always, of_conditions, only_of
from nuggets.exportables import banks_of, banks_seen
from nuggets.questions.condition_kind import QUESTIONS
from nuggets.questions.exports import condition_lines
from nuggets.questions.formats import ARGUE, RAGTIME, RAGTIME26, V3

EXPORTABLES = (
    Exportable(
        "questions",
        "Question nuggets",
        {
            V3: Form("NuggetBank v3", "v3.jsonl"),
            RAGTIME26: Form("RAGTIME 2026", "ragtime26.jsonl"),
            RAGTIME: Form("RAGTIME, for collaborators", "ragtime.jsonl"),
            ARGUE: Form("ARGUE v1", "argue.jsonl"),
        },
        lambda it: condition_lines(it.record, it.topics, it.form),
        lambda it: banks_of(it).count(),
        Order.LABELS,
        of_conditions("question condition", QUESTIONS.conditions),
        filters=("topics",),
        of_labels=always,
        shows=banks_seen,
        frozen=only_of(QUESTIONS.name),
        purposes={V3: Purpose.PARTICIPANTS},
        in_admin="finished questions",
        freezes=(V3,),
        releases=(V3,),
    ),
)
