"""What pages and exports read of banks."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext, gettext_noop

from assessor.campaigns.condition_kind import Lacking, kind_of
from assessor.campaigns.models import Campaign, Condition, Grade, Import, Segment, Topic
from assessor.campaigns.queries import segments_by_docid
from assessor.labels.queries import JsonRows
from nuggets.condition_kind import NUGGETS, nugget_kind
from nuggets.editions import Snapshot
from nuggets.formats import is_question
from nuggets.models import BankEdit, BankEdition, Drafting, Nugget, NuggetBank

# What the editor says of a draft that is not decided, was kept, or reworded; and of an inherited nugget.
DRAFT_WORDS = {"draft": gettext_noop("draft"), "kept": gettext_noop("kept"), "edited": gettext_noop("edited")}
INHERITED_WORDS = {
    "draft": gettext_noop("inherited"),
    "kept": gettext_noop("inherited, kept"),
    "edited": gettext_noop("inherited, reworded"),
}
_MONTHS = "(January|February|March|April|May|June|July|August|September|October|November|December)"
# A year or a day in a text. nuggets.js takes it too, so it has nothing that Python and JavaScript read in two ways.
DATED = (
    "(?<![0-9])(1[5-9]|20)[0-9]{2}(?![0-9])|(?<![0-9])[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2}(?![0-9])"
    f"|{_MONTHS} [0-9]{{1,2}}(?![0-9])|(?<![0-9])[0-9]{{1,2}} {_MONTHS}"
)


class Passage(NamedTuple):
    """A relevant passage beside the list."""

    segment: Segment
    grade: int


class Evidence(NamedTuple):
    """A place in a passage that a nugget rests on. number: of the passage beside the list, or 0 if not there."""

    docid: str
    start: int | None
    end: int | None
    number: int


class GoldAnswer(NamedTuple):
    """A gold answer of a question on a list that can't be edited."""

    text: str
    references: list[Evidence]


class Row(NamedTuple):
    """A nugget on a list that can't be edited. same_as: the place, from 1, of an earlier one with the same words, or 0.

    origin says in a word or two how the nugget came to be, where that is not by writing alone. is_dated: it is
    inherited and names a date. level: one more than that of the question that it is under.
    """

    nugget: Nugget
    place: int
    words: int
    is_question: bool
    same_as: int
    evidence: list[Evidence]
    gold: list[GoldAnswer]
    level: int
    origin: str
    is_dated: bool


class Finding(NamedTuple):
    """What keeps a bank from being finished: at one nugget, or (uid "") in the whole list."""

    uid: str
    message: str
    is_undecided: bool = False


def passages(bank: NuggetBank) -> tuple[list[Passage], int]:
    """Return the topic's relevant passages by grade, then docid, and how many have no text loaded."""
    graded = _relevant(bank).values_list("docid", "grade")
    in_order = sorted(graded, key=lambda pair: (-pair[1], pair[0]))
    segments = segments_by_docid(bank.condition.campaign, [docid for docid, _ in in_order])
    loaded = [Passage(segments[docid], grade) for docid, grade in in_order if docid in segments]
    return loaded, len(in_order) - len(loaded)


def passage_text(bank: NuggetBank, docid: str) -> str | None:
    """Return the text of a relevant passage of the topic, or None if there is none."""
    if "\x00" in docid or not _relevant(bank).filter(docid=docid).exists():  # PostgreSQL can't even be asked for a NUL
        return None
    return (
        Segment.objects.filter(campaign=bank.condition.campaign_id, docid=docid).values_list("text", flat=True).first()
    )


def relevant_passages(condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
    """Return topic's key and docid of the passages from which people write nuggets under a condition."""
    relevant = Grade.objects.filter(source=condition.qrels_source, topic__in=topics)
    return relevant.filter(grade__gte=condition.relevance_threshold).order_by().values_list("topic", "docid")


def _relevant(bank: NuggetBank) -> QuerySet[Grade]:
    """Only grades of the condition's own source are read: an assessor sees no other, and no LLM's."""
    least = bank.condition.relevance_threshold
    relevant: QuerySet[Grade] = Grade.objects.filter(
        source=bank.condition.qrels_source, topic=bank.topic, grade__gte=least
    )
    return relevant


def nuggets_in_order(bank: NuggetBank) -> list[Nugget]:
    """Return the nuggets on the list, in order."""
    by_name = {nugget.name: nugget for nugget in bank.nuggets.all()}
    return [by_name[name] for name in bank.order]


def with_keys(editions: QuerySet[BankEdition]) -> list[BankEdition]:
    """Return editions whose nuggets have the keys of their records too, as "id", by which labels refer to them."""
    nuggets = Nugget.objects.filter(bank=OuterRef("bank")).order_by().values("bank")
    keys = Subquery(nuggets.annotate(as_json=JsonRows("uid", "pk")).values("as_json"))
    found: list[Any] = list(editions.annotate(keys=keys))
    for edition in found:
        edition.nuggets = add_keys(edition.nuggets, edition.keys)
    return found


def banks_by_topic(nuggets: Condition, topics: Iterable[Topic]) -> dict[int, NuggetBank]:
    """Return the finished bank of each topic under a nugget condition, by topic's key; the newest of several."""
    banks = NuggetBank.objects.filter(condition=nuggets, topic__in=list(topics), state=NuggetBank.State.FINISHED)
    return {bank.topic_id: bank for bank in banks.select_related("task__person", "topic").order_by("finished_at", "pk")}


def lacking_banks(condition: Condition, topics: Sequence[Topic]) -> Lacking:
    """Return on which topics the nuggets that are labelled under a condition are not finished."""
    assert condition.nuggets is not None, "nuggets of another condition are labelled there"
    lacking = {topic.pk for topic in topics} - set(banks_by_topic(condition.nuggets, topics))
    what = kind_of(condition).nuggets_called
    return Lacking(lacking, lambda qids: f"The {what} of {qids} under {condition.nuggets} are not finished.")


def lock_finished_banks(nuggets: Condition, topics: Iterable[Topic]) -> dict[int, NuggetBank]:
    """Return banks_by_topic(), locked, without those that somebody opened again meanwhile.

    Whoever makes sheets of them locks them: else one could be finished again before its sheets can be seen, and these
    would stay behind.
    """
    finished = [bank.pk for bank in banks_by_topic(nuggets, topics).values()]
    locked = NuggetBank.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=finished).order_by("pk")
    return {bank.topic_id: bank for bank in locked if bank.state == NuggetBank.State.FINISHED}


def nuggets_of(bank: NuggetBank) -> Snapshot:
    """Return the nuggets of a bank as it was last finished: what labels and scores are about."""
    [edition] = with_keys(BankEdition.objects.filter(bank=bank, edition=bank.edition))
    return list(edition.nuggets)


def present_editions(banks: Iterable[NuggetBank]) -> dict[int, BankEdition]:
    """Return the edition of each bank as it was last finished, by bank's key."""
    editions = with_keys(BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition")))
    return {edition.bank_id: edition for edition in editions}


def add_keys(nuggets: Snapshot, keys: str | None) -> Snapshot:
    """Return nuggets of an edition with the keys of their records as "id". keys: JSON of [uid, key], of the bank's."""
    # SQLite keeps them without hyphens.
    key_of = {uid.replace("-", ""): pk for uid, pk in json.loads(keys or "[]")}
    return [nugget | {"id": key_of[nugget["uid"].replace("-", "")]} for nugget in nuggets]


def drafts(bank: NuggetBank) -> list[str]:
    """Return the model's list that a person was given to edit, in the model's order; none in other banks."""
    if bank.task_id is None or bank.drafting_id is None:
        return []
    drafting: Drafting = Drafting.objects.only("steps").get(pk=bank.drafting_id)
    return drafting.nuggets


def rows(
    listed: Sequence[Nugget], numbers: dict[str, int], drafts: Sequence[str] = (), *, are_inherited: bool = False
) -> list[Row]:
    """Return a list of nuggets as the editor shows it where nothing can be edited.

    numbers are those of the passages beside it, by docid; drafts are the list that a person edits, the model's or an
    inherited one.
    """
    first_place: dict[str, int] = {}
    levels: dict[str, int] = {}
    shown = []
    for place, nugget in enumerate(listed, start=1):
        key = folded(nugget.text)
        first = first_place.setdefault(key, place) if key else place
        gold = [GoldAnswer(one["text"], _places(one["references"] or [], numbers)) for one in nugget.gold or []]
        same_as = first if first != place else 0
        words, question = len(nugget.text.split()), is_question(nugget.text)
        evidence = _places(nugget.evidence, numbers)
        level = levels[nugget.name] = levels.get(str(nugget.under), 0) + 1
        origin = _origin(nugget, drafts)
        is_inherited = are_inherited and nugget.draft is not None
        if is_inherited:
            origin = INHERITED_WORDS[origin]
        is_dated = is_inherited and names_a_date(nugget.text)
        shown.append(Row(nugget, place, words, question, same_as, evidence, gold, level, origin, is_dated))
    return shown


def _places(places: Iterable[dict[str, Any]], numbers: dict[str, int]) -> list[Evidence]:
    """Return places in passages as they are shown. References in files name a docid, and maybe nothing else."""
    return [Evidence(one["docid"], one.get("start"), one.get("end"), numbers.get(one["docid"], 0)) for one in places]


def told(listed: list[Nugget], drafts: Sequence[str]) -> list[dict[str, Any]]:
    """Return a list of nuggets as nuggets.js takes it, which works out all else that a row shows."""
    return [
        {
            "uid": nugget.uid,
            "text": nugget.text,
            "importance": nugget.importance,
            "note": nugget.note,
            "evidence": nugget.evidence,
        }
        | {"origin": gettext(_origin(nugget, drafts))}
        | (_told_of_question(nugget) if nugget.gold is not None else {})
        | ({"draft": _draft(nugget, drafts)} if drafts else {})
        | ({"undecided": True} if nugget.is_undecided else {})
        for nugget in listed
    ]


def _told_of_question(nugget: Nugget) -> dict[str, Any]:
    gold = [{name: answer[name] for name in ("id", "text", "references")} for answer in nugget.gold]
    return {"gold": gold} | {name: getattr(nugget, name) for name in ("last_gold", "aggregator", "under")}


def _draft(nugget: Nugget, drafts: Sequence[str]) -> str | None:
    """Return the draft that a nugget is, or was before it was edited."""
    return drafts[nugget.draft - 1] if drafts and nugget.draft else None


def _origin(nugget: Nugget, drafts: Sequence[str]) -> str:
    """Say in a word or two how a nugget came to be, as nuggets.js does for one that is not saved yet."""
    draft = _draft(nugget, drafts)
    if draft is not None:
        if nugget.text != draft:
            return "edited"
        return "draft" if nugget.is_undecided else "kept"
    if nugget.parents:
        merged = gettext("merged from {number}").format(number=len(nugget.parents))
        return merged if nugget.origin == Nugget.Origin.MERGED else nugget.origin
    return gettext_noop("added") if drafts else ""


def names_a_date(text: str) -> bool:
    """Say whether a text names a year or a day: an inherited nugget that does may be out of date."""
    return re.search(DATED, text) is not None


def folded(text: str) -> str:
    """Return a text without what near-duplicates may differ in: case, blanks, punctuation, forms of one character."""
    same_forms = unicodedata.normalize("NFKC", text)
    kept = "".join(" " if unicodedata.category(char).startswith("P") else char for char in same_forms)
    return " ".join(kept.lower().upper().lower().split())


def next_redo(edited: Any) -> Any | None:
    """Return the edit of a bank or report that redo would make again: the newest that follows the head."""
    editing = edited.edits.exclude(verb__in=edited.edits.model.OUTSIDE_UNDO)
    return editing.filter(parent=edited.head_id).order_by("-version").first()


class Lineage(NamedTuple):
    """A nugget on the list, how it came to be, and what it was made from, each with what that was made from."""

    text: str
    origin: str
    made_from: list[str]
    under: int | None = None  # the version of the guidelines by which a person last said something of it


def _under(bank: NuggetBank) -> dict[str, int]:
    """Return by which version of the guidelines each nugget, by uid, was last changed, put on the list or taken off."""
    found: dict[str, int] = {}
    edits = bank.edits.exclude(guidelines_version=None).order_by("version")
    for changes, version in edits.values_list("changes", "guidelines_version"):
        before, after = changes.get("order", ([], []))
        for uid in {*changes.get("nuggets", ()), *set(before) ^ set(after)}:
            found[uid] = version
    return found


def worked_under(bank: NuggetBank) -> list[int]:
    """Return the versions of the guidelines by which people worked on a bank."""
    edits = bank.edits.exclude(guidelines_version=None).order_by("guidelines_version")
    return list(edits.values_list("guidelines_version", flat=True).distinct())


def lineage(bank: NuggetBank, listed: list[Nugget]) -> list[Lineage]:
    """Return the lineage of the nuggets on the list, in order.

    A nugget met again in the lineage of another, as the halves of one that were merged again lead to it twice, is
    named without repeating what it was made from: that would double with every round.
    """
    nuggets = {nugget.name: nugget for nugget in bank.nuggets.all()}
    under = _under(bank)

    def told(name: str, known: set[str]) -> str:
        nugget = nuggets[name]
        if name in known or not nugget.parents:
            return nugget.text
        known.add(name)
        return f"{nugget.text} (from: {'; '.join(told(parent, known) for parent in nugget.parents)})"

    found = []
    for one in listed:
        known: set[str] = set()
        made_from = [told(parent, known) for parent in one.parents]
        found.append(Lineage(one.text, one.get_origin_display(), made_from, under.get(one.name)))
    return found


def reopening(bank: NuggetBank) -> BankEdit | None:
    """Return the edit by which an organizer reopened the bank, while it is open again."""
    if bank.state != NuggetBank.State.OPEN or not bank.edition:
        return None
    return bank.edits.filter(verb="reopen").select_related("judge").order_by("-version").first()


def most_nuggets(condition: Condition) -> int:
    """Return how many nuggets can be handed in: who edits drafts may keep as many as there can be drafts."""
    protocol = condition.protocol
    return protocol.max_drafts if condition.edits_drafts else protocol.max_nuggets


def findings(bank: NuggetBank, listed: list[Nugget]) -> list[Finding]:
    """Return everything that keeps the bank, with these nuggets on its list, from being finished."""
    kind = nugget_kind(bank.condition)
    name = gettext(kind.thing).capitalize()
    found = []
    for place, nugget in enumerate(listed, start=1):
        if nugget.is_undecided:
            found.append(Finding(str(nugget.uid), f"{name} {place}: {nugget.text}", is_undecided=True))
            continue
        if not nugget.text:
            found.append(
                Finding(str(nugget.uid), gettext("{thing} {place} has no text.").format(thing=name, place=place))
            )
        if not nugget.importance:
            told = gettext("{thing} {place} is neither vital nor okay yet.").format(thing=name, place=place)
            found.append(Finding(str(nugget.uid), told))
    if not listed:
        found.append(Finding("", gettext("There is no {thing} yet.").format(thing=gettext(kind.thing))))
    return found + kind.findings(bank, listed)


def too_many(bank: NuggetBank, listed: Sequence[Nugget]) -> list[Finding]:
    """Return that there are more nuggets than can be handed in, where there are."""
    most = most_nuggets(bank.condition)
    if len(listed) <= most:
        return []
    told = gettext("There are {number} nuggets; at most {most} can be handed in.")
    return [Finding("", told.format(number=len(listed), most=most))]


def facts(condition: Condition, listed: list[Nugget]) -> str:
    """Describe a list of nuggets, for the question whether to hand it in."""
    kind = nugget_kind(condition)
    importances = Counter(nugget.importance for nugget in listed)
    things = kind.thing if len(listed) == 1 else f"{kind.thing}s"
    remarks = [f"{number} {remark}." for remark, number in kind.remarks(condition, listed).items() if number]
    return " ".join(
        [f"{len(listed)} {gettext(things)}: {importances['vital']} vital, {importances['okay']} okay.", *remarks]
    )


def remarks_on_facts(condition: Condition, listed: Sequence[Nugget]) -> dict[str, int]:
    """Return what is not as advised in a list of facts, and of how many of them."""
    advised = condition.protocol.advised_words
    listed_rows = rows(listed, {})
    return {
        gettext("with the same words as another"): sum(row.same_as > 0 for row in listed_rows),
        gettext("with more than {advised} words").format(advised=advised): sum(
            row.words > advised for row in listed_rows
        ),
        gettext("without evidence"): sum(not nugget.evidence for nugget in listed),
    }


def finished_banks(condition: Condition) -> QuerySet[NuggetBank]:
    """Return the finished banks of a condition, with their topics."""
    return NuggetBank.objects.filter(condition=condition, state=NuggetBank.State.FINISHED).select_related("topic")


def finished_counts(campaign: Campaign, kind: str = NUGGETS.name) -> QuerySet[Any]:
    """Return conditions of a kind that makes nuggets with how many of their banks are finished, and how many there are.

    Banks on topics for practice are not among them.
    """
    # A join sees the banks of unfinished imports too.
    visible = Q(nugget_banks__import_record=None) | Q(nugget_banks__import_record__state=Import.State.DONE)
    visible &= Q(nugget_banks__topic__is_practice=False)
    finished = Count("nugget_banks", filter=visible & Q(nugget_banks__state=NuggetBank.State.FINISHED), distinct=True)
    conditions = campaign.conditions.filter(kind=kind).select_related(
        "qrels_source__condition__judge", "judge", "protocol"
    )
    return conditions.annotate(finished=finished, banks=Count("nugget_banks", filter=visible, distinct=True))
