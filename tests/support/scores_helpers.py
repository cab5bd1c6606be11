"""Conditions with labels of citations to score, as a job or a file leaves them."""

from collections.abc import Mapping, Sequence

from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import Answer, Campaign, Condition, Judge
from assessor.labels.new_sheets import SheetRow
from support.actions import add_sheets, sheet_row
from support.citations import places
from support.models import SupportSheet
from tests.conftest import Importer

# By run and topic the sentences of an answer, a letter for the label of each citation: full, partial, none, - not
# judged, ? no label yet, ! no text, and . where it is not asked.
ANSWERS: dict[str, dict[str, list[str]]] = {
    "team.one": {"t1": ["p", "f", ""], "t2": ["", ""]},
    "team.two": {"t1": ["f", "p", "nf", "-", ""], "t2": ["f"]},
    "team.empty": {"t1": []},  # did not answer t2
}
LETTER = {"f": "full", "p": "partial", "n": "none", "-": "not judged"}
# By MEASURES. What they come to.
ONE_T1 = [0.75, 0.5, 0.5, 1 / 3] * 2
TWO_T1 = [0.5, 0.375, 1 / 3, 0.25, 2 / 3, 0.5, 0.5, 0.375]
ONES, ZERO = [1.0] * 8, [0.0] * 8
DOCIDS = ["d1", "d2", "d3", "d5"]  # of tests/conftest.py


def import_answers(campaign: Campaign, import_file: Importer, answers: Mapping[str, Mapping[str, list[str]]]) -> None:
    """Import runs whose sentences cite as many segments as there are letters."""
    for tag, by_topic in answers.items():
        lines = [
            {
                "run_id": tag,
                "topic_id": qid,
                "references": DOCIDS,
                "answer": [{"text": "Words.", "citations": [*range(len(letters))]} for letters in sentences],
            }
            for qid, sentences in by_topic.items()
        ]
        assert import_file(campaign, "runs", lines).state == "done"


def support_condition(campaign: Campaign, name: str = "Auto", *, is_rehearsal: bool = False) -> Condition:
    """Make a condition in which a model judges support."""
    judge = Judge.objects.create(kind="model", name=f"judge of {name}", is_rehearsal=is_rehearsal)
    condition = Condition(campaign=campaign, name=name, kind="support", method="support automatic", judge=judge)
    return create_condition(condition, acting_user=None)


def judge(condition: Condition, answers: Mapping[str, Mapping[str, list[str]]] = ANSWERS) -> Condition:
    """Write the sheets of runs' own answers."""
    for tag, by_topic in answers.items():
        for qid, sentences in by_topic.items():
            add_sheets([row(condition, Answer.objects.get(run__tag=tag, topic__qid=qid, apart=False), sentences)])
    return condition


def row(
    condition: Condition, answer: Answer, sentences: Sequence[str], *, import_record: int | None = None
) -> SheetRow:
    """Return a sheet as add_sheets() takes it."""
    assert condition.judge_id is not None
    letters = {f"{s}.{c}": letter for s, said in enumerate(sentences) for c, letter in enumerate(said)}
    return sheet_row(
        condition=condition.pk,
        answer=answer.pk,
        judge=condition.judge_id,
        asked={key: _docid(answer, key) for key, letter in letters.items() if letter != "."},
        unresolved=[key for key, letter in letters.items() if letter == "!"],
        labels={key: LETTER[letter] for key, letter in letters.items() if letter in LETTER},
        import_record=import_record,
    )


def _docid(answer: Answer, key: str) -> str:
    sentence, citation = places(key)
    cited = list(answer.sentences())[sentence : sentence + 1]
    return cited[0].citations[citation].docid if cited and citation < len(cited[0].citations) else f"none {citation}"


def sheet_on(condition: Condition, qid: str, tag: str) -> SupportSheet:
    sheet: SupportSheet = SupportSheet.objects.get(
        condition=condition, answer__topic__qid=qid, answer__run__tag=tag, answer__apart=False
    )
    return sheet


def say(sheet: SupportSheet, key: str, **fields: object) -> None:
    """Change what stands of a citation."""
    sheet.refresh_from_db()
    sheet.revise("test", {key: fields}, judge_id=sheet.judge_id)


def forget(sheet: SupportSheet) -> None:
    """Have a sheet never been there."""
    sheet.judgments.all().delete()
    sheet.delete()
