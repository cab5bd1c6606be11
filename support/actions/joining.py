"""What becomes of support judgments when the answer they are on gets its citations from another file."""

from collections.abc import Mapping, Sequence
from typing import Any

from assessor.collection.models import Answer, Sentence
from assessor.work.sheets import is_said, revise
from support.actions.preparing import count
from support.citations import MOVED_TO, first_places, judged_citations, key_of, places
from support.models import SupportSheet
from support.queries import loaded_docids


def follow_citations(changed: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Keep what was said of the citations of answers with them, in the transaction that puts them elsewhere.

    changed: the answers as they now are, each with its sentences before. A citation is its sentence and its docid: its
    key follows it. Lines of files go out as they came. Where nothing but the text was known when a sheet was made here,
    its answer cited nothing; what is to be judged there is known now.
    """
    answers = {answer.pk: (answer, before) for answer, before in changed.items()}
    sheets = SupportSheet.objects.select_for_update(no_key=True, of=("self",)).filter(answer__in=answers)
    # All at once, in the order of their keys, so that nobody who locks several of them waits for ever.
    tasks = {}
    for sheet in sheets.select_related("condition__campaign", "condition__protocol", "task").order_by("pk"):
        if sheet.task:
            tasks[sheet.task.pk] = sheet.task
        answer, before = answers[sheet.answer_id]
        _follow(sheet, before, list(answer.sentences()))
    for _, task in sorted(tasks.items()):
        count(task)


def _follow(sheet: SupportSheet, before: Sequence[Sentence], after: Sequence[Sentence]) -> None:
    now = {key: _moved(key, before, after) for key in sheet.asked}
    extras = _moved_extras(sheet.extras, before, after) if sheet.import_record_id else sheet.extras
    columns: dict[str, Any] = {
        **_to_judge(sheet, now, after),
        # What stood in a file in the place of a label may be nothing, which can't be told from no entry below.
        "invalid": {now[key]: found for key, found in sheet.invalid.items()},
    }
    if all(getattr(sheet, name) == value for name, value in columns.items()):
        if extras != sheet.extras:
            SupportSheet.objects.filter(pk=sheet.pk).update(extras=extras)
        return
    is_moved = any(key != moved for key, moved in now.items())
    said = _said(sheet, now) if is_moved else {}
    notes = {key: {MOVED_TO: [key, moved]} for key, moved in now.items() if key != moved}
    verb = "citations moved" if is_moved else "citations known"
    columns["extras"] = extras
    revise(sheet, verb, said, judge_id=None, task_id=sheet.task_id, columns=columns, notes=notes)


def _to_judge(sheet: SupportSheet, now: Mapping[str, str], after: Sequence[Sentence]) -> dict[str, Any]:
    """Return what a sheet asks, by its columns.

    now: where its citations are. A file says itself what was judged. Sheets made here ask what the protocol does of the
    answer as it is now, and what has been judged already.
    """
    unresolved, waiting = ([now[key] for key in keys] for keys in (sheet.unresolved, sheet.waiting))
    asked = list(now.values())
    if sheet.import_record_id is None:
        said = [moved for key, moved in now.items() if is_said(sheet, key)]
        judged = judged_citations(after, sheet.condition.protocol.citations_per_sentence)
        asked = sorted({*judged, *said}, key=places)
        new = [key for key in judged if key not in now.values()]
        there = loaded_docids(sheet.condition.campaign, [judged[key] for key in new])
        lacking = [key for key in new if judged[key] not in there]
        unresolved = [key for key in asked if key in unresolved or key in lacking]
        # Beside a model's labels each waits for its own, until the topic is given again.
        waits = [key for key in new if sheet.condition.shown_id and key not in lacking]
        waiting = [key for key in asked if key in waiting or key in waits]
    if sorted(asked) == sorted(now.values()):  # nothing came and nothing went: the order stays as it was
        asked = list(now.values())
    left = (
        len(sheet.asked) - len(sheet.unresolved) - len(sheet.waiting) - sheet.to_do
    )  # those of which something is said
    to_do = len(asked) - len(unresolved) - len(waiting) - left
    return {"asked": asked, "unresolved": unresolved, "waiting": waiting, "to_do": to_do}


def _moved(key: str, before: Sequence[Sentence], after: Sequence[Sentence]) -> str:
    """Return where a citation is now."""
    sentence, citation = places(key)
    docid = before[sentence].citations[citation].docid
    return key_of(sentence, first_places(after[sentence])[docid])


def _said(sheet: SupportSheet, now: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return what is to stand of each citation, by where they were and where they are now."""
    columns = {field: column for field, column in sheet.SAID.items() if column != "invalid"}
    said: dict[str, dict[str, Any]] = {key: dict.fromkeys(columns) for key in (*now, *now.values())}
    for field, column in columns.items():
        for key, value in getattr(sheet, column).items():
            said[now[key]][field] = value
    return said


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
