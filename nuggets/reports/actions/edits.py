"""The edits of a report, which undo takes back, and its being signed. Each is called inside write_protocol.once."""

from typing import Any
from uuid import UUID

from django.utils.formats import number_format
from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Judge
from assessor.campaigns.report_length import characters, report_limit
from assessor.work.write_protocol import BadWrite, Result
from nuggets.actions.base import edit_list, hand_in, locked, on_one_line
from nuggets.actions.finishing import NotReady, reopen
from nuggets.queries import Finding
from nuggets.reports.models import EditedReport, EditedSentence, SentenceList
from nuggets.reports.queries import documents, questions_of, sentences_in_order

IN, OUT = EditedSentence.Decision.IN.value, EditedSentence.Decision.OUT.value


def take_in(report: EditedReport, *, uid: UUID, is_verbatim: bool, acting_user: Person, seen: int) -> Result:
    """Put a sentence in the report, as it is, or in the document's words."""

    def change(report: EditedReport, sentences: SentenceList, judge: Judge) -> None:
        sentence = _sentence(sentences, uid)
        if is_verbatim:
            extracted = report.sentences.get(uid=uid).extracted
            if not extracted:
                raise BadWrite("This sentence was not found in a document.")
            sentence["text"] = on_one_line(extracted)
        _put_in(report, sentences, str(uid))

    return edit_list(report, "take", change, acting_user, seen)


def leave_out(report: EditedReport, *, uid: UUID, acting_user: Person, seen: int) -> Result:
    """Decide that a sentence is not in the report."""

    def change(report: EditedReport, sentences: SentenceList, judge: Judge) -> None:
        _sentence(sentences, uid)["decision"] = OUT
        sentences.order = [one for one in sentences.order if one != str(uid)]

    return edit_list(report, "leave", change, acting_user, seen)


def reword_sentence(report: EditedReport, *, uid: UUID, text: str, acting_user: Person, seen: int) -> Result:
    """Change a sentence's text, which puts it in the report. What the model found stays beside it."""
    cleaned = _text(text)

    def change(report: EditedReport, sentences: SentenceList, judge: Judge) -> None:
        _sentence(sentences, uid)["text"] = cleaned
        _put_in(report, sentences, str(uid))

    return edit_list(report, "reword", change, acting_user, seen)


def move_sentence(report: EditedReport, *, uid: UUID, to: int, acting_user: Person, seen: int) -> Result:
    """Put a sentence of the report at another place, counted from 0; a place beyond the end is the end."""

    def change(report: EditedReport, sentences: SentenceList, judge: Judge) -> None:
        if str(uid) not in sentences.order:
            raise BadWrite("There is no such sentence in the report.")
        rest = [one for one in sentences.order if one != str(uid)]
        sentences.order = [*rest[:to], str(uid), *rest[to:]]

    return edit_list(report, "move", change, acting_user, seen)


def add_sentence(
    report: EditedReport, *, uid: UUID, question: str, docid: str, text: str, acting_user: Person, seen: int
) -> Result:
    """Put a sentence of the person's own in the report, which cites a document of the topic."""
    cleaned = _text(text)
    if question not in questions_of(report):
        raise BadWrite("There is no such question on this topic.")
    if docid not in {segment.docid for segment in documents(report)}:
        raise BadWrite("There is no such document on this topic.")

    def change(report: EditedReport, sentences: SentenceList, judge: Judge) -> None:
        if str(uid) in sentences.items:
            raise BadWrite("There is a sentence with this uid already.")
        new = report.sentences.create(uid=uid, question=question, docid=docid, text=cleaned, decision=IN)
        sentences.items[new.name] = {"text": cleaned, "decision": IN}
        _put_in(report, sentences, new.name)

    return edit_list(report, "add", change, acting_user, seen)


def sign_report(report: EditedReport, *, acting_user: Person, seen: int) -> Result:
    """Make a report final and read-only. Raises NotReady, with what is lacking."""
    report = locked(report, seen)
    if lacking := findings(report, sentences_in_order(report)):
        raise NotReady(lacking)
    hand_in(report, "sign", acting_user)
    told = {"edition": report.edition, "sentences": len(report.order)}
    history.record("report signed", report, campaign=report.condition.campaign, person=acting_user, **told)
    return {"version": report.version, "finished": True}


def findings(report: EditedReport, sentences: list[EditedSentence]) -> list[Finding]:
    """Return what keeps a report from being signed."""
    if not sentences:
        return [Finding("", gettext("There is no sentence in the report yet."))]
    limit = report_limit(report.topic, report.condition.protocol)
    length = sum(characters(sentence.text) for sentence in sentences)
    if limit and length > limit:
        told = gettext(
            "The report has {length} characters; at most {limit} can be signed. Take out or shorten sentences."
        )
        found = {
            name: number_format(number, force_grouping=True) for name, number in (("length", length), ("limit", limit))
        }
        return [Finding("", told.format(**found))]
    return []


def reopen_report(report: EditedReport, *, reason: str, acting_user: Person) -> EditedReport:
    """Give a signed report back to its person, to be edited and signed again. Raises ReopenError."""
    found: EditedReport = reopen(report, "This report is not signed", reason=reason, acting_user=acting_user)
    return found


def _sentence(sentences: SentenceList, uid: UUID) -> dict[str, Any]:
    if str(uid) not in sentences.items:
        raise BadWrite("There is no such sentence.")
    return sentences.items[str(uid)]


def _put_in(report: EditedReport, sentences: SentenceList, name: str) -> None:
    """Put a sentence behind the last one of its question, or of one before that in the bank, unless it is there."""
    sentences.items[name]["decision"] = IN
    if name in sentences.order:
        return
    places = {question: place for place, question in enumerate(questions_of(report))}
    place_of = {str(uid): places[question] for uid, question in report.sentences.values_list("uid", "question")}
    before = [at for at, one in enumerate(sentences.order, 1) if place_of[one] <= place_of[name]]
    at = max(before, default=0)
    sentences.order = [*sentences.order[:at], name, *sentences.order[at:]]


def _text(text: str) -> str:
    cleaned = on_one_line(text)
    if not cleaned:
        raise BadWrite("A sentence needs a text.")
    return cleaned
