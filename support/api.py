"""What the API lists of support judgments."""

from typing import Any

from assessor.labels.api import LineSchema, list_of_answers
from support.exports import support_lines
from support.models import SupportSheet


class JudgedCitation(LineSchema):
    """support: "2" full, "1" partial, "0" none, "-1" not judged; absent where there is no label that counts."""

    citationID: Any = None
    reference: str
    support: Any = None


class JudgedSentence(LineSchema):
    text: str | None
    citations: list[JudgedCitation]


class SupportItem(LineSchema):
    """The labels of an answer's citations: a line of NIST's support files."""

    topic_id: Any
    run_id: str
    sentences: list[JudgedSentence]


SUPPORT_LIST = list_of_answers(
    name="support",
    about="The labels of citations under a condition, in NIST's form, by topic id and run's tag.",
    schema=SupportItem,
    sheets=SupportSheet,
    lines=support_lines,
)
