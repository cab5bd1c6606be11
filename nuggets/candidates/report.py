"""What a bank lacks, by the supported sentences of answers that state none of its nuggets."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.work.exposure import Seen
from metaeval.stats.calibration import Estimate, share_over_topics, wilson_interval
from nuggets.candidates.models import SentenceMatch
from nuggets.candidates.queries import (
    candidate_conditions,
    finished_editions,
    sentences_at,
    stated_nuggets,
    supported,
    text_of,
)
from nuggets.models import NuggetBank

COLUMNS = ("topic", "candidate", "answers", "runs", "docids", "bank", "judge")


class Uncovered(NamedTuple):
    """The supported sentences of a topic's answers. asked: those looked for in the bank; uncovered: in it nowhere."""

    topic: Topic
    supported: int
    asked: int
    uncovered: int

    @property
    def share(self) -> Estimate:
        """The share of what was asked that no nugget states, with Wilson's interval for independent sentences."""
        if not self.asked:
            return Estimate(None, None, None, 0, why="not asked")
        share = self.uncovered / self.asked
        return Estimate(share, *wilson_interval(share, self.asked), self.asked)


class Report(NamedTuple):
    """All topics with a finished bank and supported sentences, and what they come to, topics being clusters."""

    condition: Condition
    rows: list[Uncovered]
    share: Estimate

    @property
    def supported(self) -> int:
        """How many supported sentences there are."""
        return sum(row.supported for row in self.rows)

    @property
    def uncovered(self) -> int:
        """How many of those that were looked for state no nugget."""
        return sum(row.uncovered for row in self.rows)

    @property
    def asked(self) -> int:
        """How many sentences were looked for."""
        return sum(row.asked for row in self.rows)

    @property
    def open(self) -> int:
        """How many were not yet, with the banks as they are."""
        return self.supported - self.asked


class Candidate(NamedTuple):
    """What supported sentences say, and no nugget. answers: in which it is, each with the sentence's number from 1."""

    text: str
    answers: list[tuple[Answer, int]]
    docids: list[str]


def report(condition: Condition) -> Report:
    """Return what the banks lack of all topics but those for practice."""
    rows = uncovered(condition, list(condition.campaign.topics.filter(is_practice=False).order_by("qid")))
    return Report(condition, rows, share_over_topics([row.uncovered for row in rows], [row.asked for row in rows]))


def uncovered(condition: Condition, topics: Sequence[Topic]) -> list[Uncovered]:
    """Return those of the topics that have a finished bank and supported sentences, in as many queries for all."""
    editions, sentences = finished_editions(condition, topics), supported(condition, topics)
    stated = stated_nuggets(condition, editions.values())
    rows = []
    for topic in topics:
        places = sentences.get(topic.pk, ())
        if topic.pk in editions and places:
            asked = [stated[place] for place in places if place in stated]
            rows.append(Uncovered(topic, len(places), len(asked), sum(not nuggets for nuggets in asked)))
    return rows


def candidates(condition: Condition, topic: Topic) -> list[Candidate]:
    """Return what the bank of a topic lacks: what most answers say first."""
    stated = stated_nuggets(condition, finished_editions(condition, [topic]).values())
    places = [one for one in supported(condition, [topic]).get(topic.pk, ()) if stated.get(one) == []]
    sentences = sentences_at(places)
    answers = Answer.objects.select_related("run").only("run").in_bulk({answer for answer, _ in places})
    found: dict[str, Candidate] = {}
    for answer, at in places:
        sentence = sentences[answer, at]
        one = found.setdefault(text_of(sentence), Candidate(text_of(sentence), [], []))
        one.answers.append((answers[answer], at + 1))
        one.docids.extend(citation.docid for citation in sentence.citations if citation.docid not in one.docids)
    return sorted(found.values(), key=lambda one: (-len(one.answers), one.text.encode()))


def of_bank(bank: NuggetBank) -> tuple[Condition, Uncovered] | None:
    """Return what the newest condition that looked for candidates says of a finished bank, or None."""
    asked = SentenceMatch.objects.filter(edition__bank=bank, edition__edition=bank.edition)
    newest = candidate_conditions(bank.condition.campaign).filter(pk__in=asked.order_by().values("condition"))
    condition = newest.order_by("-pk").first() if bank.state == NuggetBank.State.FINISHED else None
    rows = uncovered(condition, [bank.topic]) if condition else []
    return (condition, rows[0]) if condition and rows else None


def seen_in_candidates(condition: Condition) -> Seen:
    """Yield what a file of candidates shows: what a model made of banks, and labels of support."""
    topics = Topic.objects.filter(pk__in=SentenceMatch.objects.filter(condition=condition).values("answer__topic"))
    yield condition, topics
    if condition.support:
        yield condition.support, topics


# Files


def file_lines(condition: Condition, form: str) -> Iterator[str]:
    """Return the lines of a file: "csv" has the candidates, "json" the shares."""
    if form == "json":
        return iter([to_json(_told(report(condition))) + "\n"])
    return write_table(COLUMNS, _rows(condition))


def _rows(condition: Condition) -> Iterator[Sequence[object]]:
    for row in report(condition).rows:
        for one in candidates(condition, row.topic) if row.uncovered else ():
            tags = sorted({answer.run.tag for answer, _ in one.answers}, key=str.encode)
            told = (len(one.answers), " ".join(tags), " ".join(one.docids), condition.nuggets, condition.judge)
            yield row.topic.qid, one.text, *told


def _told(found: Report) -> dict[str, Any]:
    return {
        "condition": found.condition.name,
        "identity": found.condition.identity,
        "nuggets": str(found.condition.nuggets),
        "support": str(found.condition.support),
        "uncovered": _share(found.share, found.uncovered),
        "not_asked": found.open,
        "by_topic": {
            row.topic.qid: {"supported": row.supported, **_share(row.share, row.uncovered)} for row in found.rows
        },
    }


def _share(share: Estimate, number: int) -> dict[str, Any]:
    told = {"sentences": share.n, "uncovered": number, "share": share.value, "low": share.low, "high": share.high}
    return told | ({"why": share.why} if share.why else {})
