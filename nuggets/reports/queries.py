"""What is read for a report, and what was found."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Condition, Grade, RankedSegment, Segment, Topic
from assessor.campaigns.queries import byte_order, segments_by_docid
from nuggets.models import BankEdition
from nuggets.queries import banks_by_topic, next_redo, present_editions
from nuggets.questions.formats import question_id
from nuggets.reports.assembly import Found, as_question
from nuggets.reports.models import EditedReport, EditedSentence, Reading, ReportEdit

MOST_DOCUMENTS = 100  # of a topic that are read


class ToRead(NamedTuple):
    """What is read on a topic: the text of each question by id, in the order of the bank, and documents in order."""

    questions: dict[str, str]
    docids: list[str]
    edition: BankEdition

    @property
    def pairs(self) -> int:
        """How many pairs of question and document there are."""
        return len(self.questions) * len(self.docids)


def to_read(condition: Condition, topics: Sequence[Topic]) -> dict[int, ToRead]:
    """Return what is read on each topic that has a finished bank, by key, in a constant number of queries.

    Documents are the first of the condition's retrieval run, or those that its own source grades as relevant, the best
    graded first.
    """
    assert condition.nuggets is not None, "reports are written from a bank"
    banks = banks_by_topic(condition.nuggets, topics)
    editions = present_editions(banks.values())
    docids = _docids(condition, banks)
    return {
        topic: ToRead(_questions(editions[bank.pk]), docids[topic], editions[bank.pk]) for topic, bank in banks.items()
    }


def _docids(condition: Condition, topics: Iterable[int]) -> dict[int, list[str]]:
    """Return the documents of topics, by key, in order."""
    docids: dict[int, list[str]] = defaultdict(list)
    for topic, docid in _naming_documents(condition, topics).values_list("topic", "docid"):
        if len(docids[topic]) < MOST_DOCUMENTS:
            docids[topic].append(docid)
    return docids


def _naming_documents(condition: Condition, topics: Iterable[int]) -> QuerySet[Any]:
    if run := condition.retrieval_run:
        return RankedSegment.objects.filter(run=run, topic__in=list(topics)).order_by("topic", "place")
    least = condition.relevance_threshold
    relevant = Grade.objects.filter(source=condition.qrels_source, topic__in=list(topics), grade__gte=least)
    return relevant.order_by("topic", "-grade", byte_order("docid"))


def _questions(edition: BankEdition) -> dict[str, str]:
    """Return what is asked for each nugget, by the id of its text."""
    texts = {nugget["text"]: nugget.get("gold") is None for nugget in edition.nuggets}
    return {question_id(text): as_question(text, is_fact=is_fact) for text, is_fact in texts.items()}


def documents_to_read(condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, str]]:
    """Yield topic's key and docid of the documents that reports on topics are made from."""
    for topic, one in to_read(condition, topics).items():
        yield from ((topic, docid) for docid in one.docids)


def read_pairs(condition: Condition, topics: Iterable[int]) -> dict[int, set[tuple[str, str]]]:
    """Return the pairs (question's id, docid) that were read already, by topic's key."""
    found: dict[int, set[tuple[str, str]]] = defaultdict(set)
    if condition.pk:
        rows = Reading.objects.filter(condition=condition, topic__in=list(topics)).order_by()
        for topic, *pair in rows.values_list("topic", "question", "docid").iterator():
            found[topic].add((pair[0], pair[1]))
    return found


def lacking_pairs(condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, str, str]]:
    """Yield (topic's key, question's id, docid) of all that is not read yet."""
    wanted = to_read(condition, topics)
    there = read_pairs(condition, wanted)
    for topic, one in wanted.items():
        for question in one.questions:
            yield from ((topic, question, docid) for docid in one.docids if (question, docid) not in there[topic])


def unread(condition: Condition) -> list[tuple[str, int]]:
    """Return how many pairs are not read yet of each topic where something is, by topic id."""
    topics = {topic.pk: topic for topic in Topic.objects.filter(readings__condition=condition).distinct()}
    counts: dict[str, int] = defaultdict(int)
    for topic, _, _ in lacking_pairs(condition, list(topics.values())):
        counts[topics[topic].qid] += 1
    return sorted(counts.items())


def found_for(condition: Condition, topic: int, one: ToRead) -> dict[str, list[Found]]:
    """Return what was found on a topic, by question's id."""
    places = {docid: place for place, docid in enumerate(one.docids)}
    found: dict[str, list[Found]] = defaultdict(list)
    rows = Reading.objects.filter(condition=condition, topic=topic).order_by("pk")
    for question, docid, said in rows.values_list("question", "docid", "found"):
        if docid in places:
            found[question] += [Found(question=question, docid=docid, place=places[docid], **chunk) for chunk in said]
    return found


def is_read(one: ToRead, there: set[tuple[str, str]]) -> bool:
    """Say whether all documents of a topic were read for all questions. there: the pairs that were."""
    return all((question, docid) in there for question in one.questions for docid in one.docids)


# Reports that people edit


def ready_to_edit(drafts: Condition, topics: Sequence[Topic]) -> dict[int, ToRead]:
    """Return the topics on which all documents were read, by key, with what was read."""
    wanted = {topic: one for topic, one in to_read(drafts, topics).items() if one.pairs}
    there = read_pairs(drafts, wanted)
    return {topic: one for topic, one in wanted.items() if is_read(one, there[topic])}


def spoiled_kinds() -> set[str]:
    """Return the kinds of blind work that editing a report on a topic spoils there.

    It shows a bank, which documents a model takes for relevant, and how it answers; and the report may be judged.
    """
    return {kind.name for kind in condition_kinds() if kind.blind_method}


def questions_of(report: EditedReport) -> dict[str, str]:
    """Return the text of each question of a report by its id, in the order of the bank."""
    return _questions(report.bank_edition)


def documents(report: EditedReport) -> list[Segment]:
    """Return the documents of a report's topic whose texts are loaded, in their order."""
    docids = _docids(report.condition, [report.topic_id])[report.topic_id]
    texts = segments_by_docid(report.condition.campaign, docids)
    return [texts[docid] for docid in dict.fromkeys(docids) if docid in texts]


def sentences_in_order(report: EditedReport) -> list[EditedSentence]:
    """Return the sentences that are in a report, in order."""
    by_name = {sentence.name: sentence for sentence in report.sentences.all()}
    return [by_name[name] for name in report.order]


class Asked(NamedTuple):
    """A question of a report, with the sentences that answer it, found or written."""

    key: str
    text: str
    sentences: list[EditedSentence]


def by_question(report: EditedReport) -> list[Asked]:
    """Return the questions of a report with their sentences."""
    found: dict[str, list[EditedSentence]] = defaultdict(list)
    for sentence in report.sentences.order_by("pk"):
        if sentence.draft or sentence.name in report.order:
            found[sentence.question].append(sentence)
    return [Asked(key, text, found[key]) for key, text in questions_of(report).items()]


def told(report: EditedReport, sentences: Iterable[EditedSentence]) -> dict[str, Any]:
    """Return a report as report.js takes it: its order, and all sentences about which something was decided."""
    return {
        "version": report.version,
        "state": report.state,
        "undo": report.head_id is not None,
        "redo": next_redo(report) is not None,
        "order": report.order,
        "sentences": {
            one.name: {"text": one.text, "decision": one.decision}
            | ({} if one.draft else {"question": one.question, "docid": one.docid})
            for one in sentences
            if one.decision and (one.draft or one.name in report.order)
        },
    }


class Told(NamedTuple):
    """An edit of a report, in words."""

    edit: ReportEdit
    texts: list[str]


def story(report: EditedReport) -> list[Told]:
    """Return all edits of a report with the texts of the sentences that they changed, the last first."""
    texts = {one.name: one.text for one in report.sentences.all()}
    edits = report.edits.select_related("judge", "about").order_by("-version")
    return [Told(edit, _changed(edit.about or edit, texts)) for edit in edits]


def _changed(edit: ReportEdit, texts: dict[str, str]) -> list[str]:
    before, after = edit.changes.get("order", ([], []))
    rewords = edit.changes.get("sentences", {})
    named = dict.fromkeys([*rewords, *(one for one in after if one not in before)])
    said = [rewords.get(name, {}).get("text", [None, texts[name]])[1] for name in named]
    return said or ([edit.changes["reason"]] if "reason" in edit.changes else [])


def reopening(report: EditedReport) -> ReportEdit | None:
    """Return the edit by which an organizer reopened a report, while it is open again."""
    if report.state != EditedReport.State.OPEN or not report.edition:
        return None
    return report.edits.filter(verb="reopen").select_related("judge").order_by("-version").first()
