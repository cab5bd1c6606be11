"""What becomes of labels when the answer they are on gets its sentences from another file."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from assessor.campaigns.models import Answer, Sentence
from assignment.models import AnswerSheet

Mark = list[int]  # sentence, start, end, in characters


def follow_sentences(changed: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Keep the sheets of answers as they were said, in the transaction that gives them the sentences of another file.

    changed: the answers as they now are, each with its sentences before. Lines of files keep their text as it came,
    and the words that carry a label stay the same.
    """
    answers = {answer.pk: (answer, [sentence.text for sentence in before]) for answer, before in changed.items()}
    sheets = AnswerSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(answer__in=answers)
    # All at once, in the order in which jobs and banks that are finished again lock them too.
    for sheet in AnswerSheet.with_items(sheets.order_by("pk")):
        answer, before = answers[sheet.answer_id]
        sentences = [sentence["text"] for sentence in answer.content]
        if sheet.import_record_id:
            text = sheet.extras.pop("answer_text", " ".join(before))
            extras = sheet.extras | ({"answer_text": text} if text != answer.text else {})
            AnswerSheet.in_or_out.filter(pk=sheet.pk).update(extras=extras)
        if sheet.marks:
            split = {int(key): {"marks": split_marks(marks, before, sentences)} for key, marks in sheet.marks.items()}
            sheet.revise("sentences known", split, judge_id=None)


def split_marks(marks: Sequence[Mark], before: Sequence[str], sentences: Sequence[str]) -> list[Mark]:
    """Return marks of sentences as marks of others, which are the same text but for blanks.

    A mark that goes over the end of a sentence becomes one in each.
    """
    # Characters that are no blanks are the same in both, one by one.
    counts = [0, *accumulate(not char.isspace() for char in "".join(before))]
    starts = [0, *accumulate(map(len, before))]
    places = [
        (number, at)
        for number, sentence in enumerate(sentences)
        for at, char in enumerate(sentence)
        if not char.isspace()
    ]
    split = []
    for of, start, end in marks:
        marked = places[counts[starts[of] + start] : counts[starts[of] + end]]
        for number in dict.fromkeys(number for number, _ in marked):
            inside = [at for sentence, at in marked if sentence == number]
            split.append([number, inside[0], inside[-1] + 1])
    return split
