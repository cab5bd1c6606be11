"""What becomes of support judgments when the answer they are on gets its citations from another file."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from assessor.campaigns.models import Answer, Condition, Sentence
from assessor.campaigns.passages import lacking_passages
from assessor.labels.models import Label
from support.actions.equal_pairs import note_equal
from support.actions.preparation import count
from support.citations import first_places
from support.models import SupportJudgment, SupportSheet
from support.queries import to_judge


def follow_citations(changed: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Keep what was said of the citations of answers with them, in the transaction that puts them elsewhere.

    changed: the answers as they now are, each with its sentences before. A citation is its sentence and its docid: its
    key follows it. Lines of files go out as they came. Where nothing but the text was known when a sheet was made here,
    its answer cited nothing; what is to be judged there is known now.
    """
    answers = {answer.pk: (answer, before) for answer, before in changed.items()}
    of_answers = Q(answer__in=answers)
    made_here = SupportSheet.in_or_out.filter(of_answers).exclude(condition__method=Condition.IMPORTED)
    once = made_here.filter(condition__protocol__equal_pairs_once=True).order_by()
    with_equal = set(once.values_list("condition", "answer__topic"))
    conditions, topics = ({pair[side] for pair in with_equal} for side in (0, 1))
    # All at once, in the order of their keys, so that nobody who locks several of them waits for ever; first sheets are
    # older than those that label them again. Where equal pairs are judged once, what is said of one of these may be
    # written on any sheet of the topic.
    touched = of_answers | Q(condition__in=conditions, answer__topic__in=topics) if with_equal else of_answers
    locked = SupportSheet.in_or_out.select_for_update(no_key=True, of=("self",))
    list(locked.filter(touched).order_by("pk").values_list("pk"))
    sheets = locked.filter(of_answers)
    tasks = {}
    asked: dict[tuple[int, int], Mapping[str, str]] = {}  # by condition and answer
    related = ("condition__campaign", "condition__protocol", "condition__manual_setup", "task")
    for sheet in SupportSheet.with_items(sheets.select_related(*related).order_by("pk")):
        if sheet.task:
            tasks[sheet.task.pk] = sheet.task
        answer, before = answers[sheet.answer_id]
        setup = getattr(sheet.condition, "manual_setup", None)
        first = asked[setup.of_id, sheet.answer_id] if setup and setup.of_id else None
        _follow(sheet, answer, before, first)
        asked[sheet.condition_id, sheet.answer_id] = {key: sheet.labels_by_item[key].docid for key in sheet.asked}
    for condition in Condition.with_controls.filter(pk__in=conditions).select_related("protocol").order_by("pk"):
        for topic in sorted(topic for pk, topic in with_equal if pk == condition.pk):
            note_equal(condition, topic)
    for _, task in sorted(tasks.items()):
        count(task)


def _follow(sheet: SupportSheet, answer: Answer, before: Sequence[Sentence], first: Mapping[str, str] | None) -> None:
    """Change a sheet with its answer. first: what the first sheet asks now, where this labels it again."""
    after = list(answer.sentences())
    is_moved = _move(sheet, after)
    extras = _moved_extras(sheet.extras, before, after) if sheet.import_record_id else sheet.extras
    is_same = sheet.import_record_id is not None or not _ask(sheet, answer, first)
    if is_same and not is_moved:
        if extras != sheet.extras:
            SupportSheet.in_or_out.filter(pk=sheet.pk).update(extras=extras)
        return
    verb = "citations moved" if is_moved else "citations known"
    sheet.revise(verb, {}, judge_id=None, task_id=sheet.task_id, columns={"extras": extras})


def _move(sheet: SupportSheet, after: Sequence[Sentence]) -> bool:
    """Save where the citations of a sheet are now; say whether one is elsewhere."""
    rows, is_moved = list(sheet.labels_by_item.values()), False
    for row in rows:
        place = first_places(after[row.sentence])[row.docid]
        if place != row.citation:
            row.citation, is_moved = place, True
            SupportJudgment.everything.filter(pk=row.pk).update(citation=place)
    sheet.take_labels(sorted(rows, key=lambda row: row.pk))
    return is_moved


def _ask(sheet: SupportSheet, answer: Answer, first: Mapping[str, str] | None) -> bool:
    """Have a sheet that was made here ask what it now does, with its next revision; say whether that is something else.

    That is what its condition asks of the answer as it is now, or what is labelled again what the first sheet does, and
    what has been judged already.
    """
    asked = sheet.asked
    if first is None:
        judged: Mapping[str, str] = to_judge(sheet.condition, [answer])[answer.pk]
    else:
        only = asked if sheet.condition.manual_setup.only_unjudgeable else first
        judged = {key: docid for key, docid in first.items() if key in only}
    new = {key: docid for key, docid in judged.items() if key not in asked}
    gone = [key for key in asked if key not in judged and not sheet.is_said(key)]
    without_text = lacking_passages(sheet.condition.campaign, ((answer.run_id, docid) for docid in new.values()))
    for key, docid in new.items():
        if (answer.run_id, docid) in without_text:
            state = Label.State.NO_TEXT
        else:  # beside a model's labels each waits for its own, until the topic is given again
            state = Label.State.WAITING if sheet.condition.shown_id else Label.State.OPEN
        sheet.ask_also({key: docid}, state)
    sheet.set_states(gone, Label.State.REMOVED)
    return bool(new or gone)


def _moved_extras(extras: dict[str, Any], before: Sequence[Sentence], after: Sequence[Sentence]) -> dict[str, Any]:
    """Return what an imported line has else than the answer as it is now; see support.loaders."""
    of_sentences = extras.get("sentences", {})
    sentences = {}
    for at, (one, other) in enumerate(zip(before, after, strict=True)):
        kept = dict(of_sentences.get(str(at), {}))
        text = kept.pop("text", one.text)
        kept |= {"text": text} if text != other.text else {}
        further = kept.pop("citations", {})
        position_of, moved = first_places(other), {}
        for docid, position in first_places(one).items():
            keys = {"citationID": position} | further.get(str(position), {})
            if keys["citationID"] == position_of[docid]:
                del keys["citationID"]
            if keys:
                moved[str(position_of[docid])] = keys
        kept |= {"citations": moved} if moved else {}
        if kept:
            sentences[str(at)] = kept
    line = {key: value for key, value in extras.items() if key != "sentences"}
    return line | ({"sentences": sentences} if sentences else {})
