"""What becomes of support judgments when the answer they are on gets its citations from another file."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from assessor.collection.models import Answer, Condition, Sentence
from assessor.collection.passages import lacking_passages
from assessor.work.sheets import MOVED, MOVED_TO, is_said, revise
from support.actions.equal import note_equal
from support.actions.preparing import count
from support.citations import cited_in, first_places, key_of, places
from support.models import SupportSheet
from support.queries import to_judge


def follow_citations(changed: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Keep what was said of the citations of answers with them, in the transaction that puts them elsewhere.

    changed: the answers as they now are, each with its sentences before. A citation is its sentence and its docid: its
    key follows it. Lines of files go out as they came. Where nothing but the text was known when a sheet was made here,
    its answer cited nothing; what is to be judged there is known now.
    """
    answers = {answer.pk: (answer, before) for answer, before in changed.items()}
    of_answers = Q(answer__in=answers)
    made_here = SupportSheet.in_or_out.filter(of_answers).exclude(condition__method=Condition.Method.IMPORTED)
    once = made_here.filter(condition__protocol__equal_pairs_once=True).order_by()
    with_equal = set(once.values_list("condition", "answer__topic"))
    conditions, topics = ({pair[side] for pair in with_equal} for side in (0, 1))
    # All at once, in the order of their keys, so that nobody who locks several of them waits for ever; first sheets are
    # older than those of opinions on them. Where equal pairs are judged once, what is said of one of these may be
    # written on any sheet of the topic.
    touched = of_answers | Q(condition__in=conditions, answer__topic__in=topics) if with_equal else of_answers
    locked = SupportSheet.in_or_out.select_for_update(no_key=True, of=("self",))
    list(locked.filter(touched).order_by("pk").values_list("pk"))
    sheets = locked.filter(of_answers)
    tasks = {}
    asked: dict[tuple[int, int], list[str]] = {}  # by condition and answer
    related = ("condition__campaign", "condition__protocol", "condition__support_opinion", "task")
    for sheet in sheets.select_related(*related).order_by("pk"):
        if sheet.task:
            tasks[sheet.task.pk] = sheet.task
        answer, before = answers[sheet.answer_id]
        opinion = getattr(sheet.condition, "support_opinion", None)
        first = asked[opinion.of_id, sheet.answer_id] if opinion and opinion.of_id else None
        _follow(sheet, answer, before, first)
        asked[sheet.condition_id, sheet.answer_id] = sheet.asked
    for condition in Condition.objects.filter(pk__in=conditions).select_related("protocol").order_by("pk"):
        for topic in sorted(topic for pk, topic in with_equal if pk == condition.pk):
            note_equal(condition, topic)
    for _, task in sorted(tasks.items()):
        count(task)


def _follow(sheet: SupportSheet, answer: Answer, before: Sequence[Sentence], first: Sequence[str] | None) -> None:
    """Change a sheet with its answer. first: what the first sheet asks now, where this is an opinion on it."""
    after = list(answer.sentences())
    now = {key: _moved(key, before, after) for key in sheet.asked}
    extras = _moved_extras(sheet.extras, before, after) if sheet.import_record_id else sheet.extras
    columns: dict[str, Any] = {
        **_to_judge(sheet, now, answer, first),
        # What stood in a file in the place of a label may be nothing, which can't be told from no entry below.
        "invalid": {now[key]: found for key, found in sheet.invalid.items()},
    }
    # A flag on one that is asked no longer moves too: its key is another citation's now.
    told = {key for column in sheet.SAID.values() for key in getattr(sheet, column)}
    is_same = all(getattr(sheet, name) == value for name, value in columns.items())
    if is_same and all(now.get(key, key) == key for key in told):
        if extras != sheet.extras:
            SupportSheet.in_or_out.filter(pk=sheet.pk).update(extras=extras)
        return
    is_moved = any(key != moved for key, moved in now.items())
    said = _said(sheet, now) if is_moved else {}
    notes = {key: {MOVED_TO: [key, moved]} for key, moved in now.items() if key != moved}
    verb = MOVED if is_moved else "citations known"
    columns["extras"] = extras
    revise(sheet, verb, said, judge_id=None, task_id=sheet.task_id, columns=columns, notes=notes)


def _to_judge(
    sheet: SupportSheet, now: Mapping[str, str], answer: Answer, first: Sequence[str] | None
) -> dict[str, Any]:
    """Return what a sheet asks, by its columns.

    now: where its citations are. A file says itself what was judged. Sheets made here ask what their condition does of
    the answer as it is now, or an opinion what the first sheet does, and what has been judged already.
    """
    unresolved, waiting = ([now[key] for key in keys] for keys in (sheet.unresolved, sheet.waiting))
    asked = list(now.values())
    if sheet.import_record_id is None:
        said = [moved for key, moved in now.items() if is_said(sheet, key)]
        judged = to_judge(sheet.condition, [answer])[answer.pk]
        if first is not None:
            only = asked if sheet.condition.support_opinion.only_cannot else first
            cited = cited_in(list(answer.sentences()), [key for key in first if key in only])
            judged = {key: one.docid for key, one in cited.items()}
        asked = sorted({*judged, *said}, key=places)
        new = [key for key in judged if key not in now.values()]
        of_run = {key: (answer.run_id, judged[key]) for key in new}
        without_text = lacking_passages(sheet.condition.campaign, of_run.values())
        lacking = [key for key in new if of_run[key] in without_text]
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
