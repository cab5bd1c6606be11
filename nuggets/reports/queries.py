"""What is read for a report, and what was found."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Condition, Grade, RankedSegment, Topic
from assessor.campaigns.queries import byte_order
from nuggets.models import BankEdition
from nuggets.queries import banks_by_topic, present_editions
from nuggets.questions.formats import question_id
from nuggets.reports.assembly import Found, as_question
from nuggets.reports.models import Reading

MOST_DOCUMENTS = 100  # of a topic that are read


class ToRead(NamedTuple):
    """What is read on a topic: the text of each question by id, in the order of the bank, and documents in order.

    edition: of the bank.
    """

    questions: dict[str, str]
    docids: list[str]
    edition: int

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
    docids: dict[int, list[str]] = defaultdict(list)
    for topic, docid in _documents(condition, banks).values_list("topic", "docid"):
        if len(docids[topic]) < MOST_DOCUMENTS:
            docids[topic].append(docid)
    return {topic: ToRead(_questions(editions[bank.pk]), docids[topic], bank.edition) for topic, bank in banks.items()}


def _documents(condition: Condition, topics: Iterable[int]) -> QuerySet[Any]:
    """Return the rows that name the documents of topics, in order."""
    if run := condition.retrieval_run:
        return RankedSegment.objects.filter(run=run, topic__in=list(topics)).order_by("topic", "place")
    least = condition.relevance_threshold
    relevant = Grade.objects.filter(source=condition.qrels_source, topic__in=list(topics), grade__gte=least)
    return relevant.order_by("topic", "-grade", byte_order("docid"))


def _questions(edition: BankEdition) -> dict[str, str]:
    """Return what is asked for each nugget, by the id of its text."""
    texts = {nugget["text"]: nugget.get("gold") is None for nugget in edition.nuggets}
    return {question_id(text): as_question(text, is_fact=is_fact) for text, is_fact in texts.items()}


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
