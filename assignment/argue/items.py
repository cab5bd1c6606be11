"""What is asked of the sentences of a report, each by a key that never changes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Protocol, Sentence, Topic
from assessor.campaigns.report_length import report_limit, within_limit
from assignment.argue.measures import Question, all_answers, asked, counted
from assignment.argue.questions import questions_of
from assignment.argue.vocabulary import ANSWERS, ATTESTS, FIRST, NEEDS, NEGATIVE, NO, STEPS, YES
from nuggets.editions import Snapshot

_STEPS = "|".join(step for step in STEPS if step != ANSWERS)
_KEY = re.compile(rf"s(\d+)(?:\.d(.+))?\.(?:n([0-9a-f-]{{36}})\.([^.]+)|({_STEPS}))", re.DOTALL)


class Item(NamedTuple):
    """A question to a sentence: whether a document attests it, whether it states a gold answer, and so on.

    docid: "" where the sentence cites nothing; nugget: the question's uid, and gold its answer's id, or "".
    """

    sentence: int
    docid: str
    step: str
    nugget: str = ""
    gold: str = ""

    @property
    def key(self) -> str:
        """Its name for ever: "s3.dDOCID.attests", "s3.dDOCID.nUID.g1", "s3.needs"."""
        of = f"s{self.sentence}" + (f".d{self.docid}" if self.docid else "")
        return f"{of}.n{self.nugget}.{self.gold}" if self.step == ANSWERS else f"{of}.{self.step}"


def item_of_key(key: str) -> Item:
    """Return the item of a key. Raises ValueError, which says what is expected, where that is none."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise ValueError("the key of a judgment, as s0.needs")
    sentence, docid, nugget, gold, step = found.groups()
    return Item(int(sentence), docid or "", step or ANSWERS, nugget or "", gold or "")


class Bank(NamedTuple):
    """The questions that are asked by a protocol. questions: those that count."""

    questions: list[Question]
    gate: str
    has_negatives: bool

    @property
    def follows(self) -> dict[str, dict[str, str]]:
        """What is asked of a sentence without citations only where it has these labels, both by their steps."""
        if not self.has_negatives:
            return {FIRST: {NEEDS: YES}}
        return {FIRST: {NEEDS: YES, NEGATIVE: NO}, ANSWERS: {NEGATIVE: YES}}

    def items(self, sentences: Iterable[Sentence], labels: Mapping[str, str]) -> list[Item]:
        """Return what is asked of sentences, in their order. labels: those that say what further is asked."""
        return [item for item in self.possible(sentences) if self._is_asked(item, labels)]

    def possible(self, sentences: Iterable[Sentence]) -> list[Item]:
        """Return what can be asked of sentences, in their order, whatever is said of them."""
        return [item for sentence in sentences for item in self._possible(sentence)]

    def _possible(self, sentence: Sentence) -> Iterator[Item]:
        at = sentence.position
        for docid in dict.fromkeys(citation.docid for citation in sentence.citations):
            yield Item(at, docid, ATTESTS)
            yield from (Item(at, docid, ANSWERS, *answer) for answer in asked(self.questions, docid, self.gate))
        if sentence.citations:
            return
        yield Item(at, "", NEEDS)
        if self.has_negatives:
            yield Item(at, "", NEGATIVE)
        yield Item(at, "", FIRST)
        if self.has_negatives:
            yield from (Item(at, "", ANSWERS, *answer) for answer in all_answers(self.questions))

    def _is_asked(self, item: Item, labels: Mapping[str, str]) -> bool:
        if item.docid:
            return True
        follows = self.follows.get(item.step, {})
        return all(labels.get(Item(item.sentence, "", step).key) == label for step, label in follows.items())


def bank_of(nuggets: Snapshot, protocol: Protocol) -> Bank:
    """Return what is asked about the questions of an edition."""
    return Bank(counted(questions_of(nuggets), protocol.argue_gate), protocol.argue_gate, protocol.argue_negatives)


def judged_sentences(sentences: Sequence[Sentence], protocol: Protocol, topic: Topic) -> list[Sentence]:
    """Return those sentences of a report that are judged: those within the protocol's limit, or else the topic's."""
    texts = [sentence.text for sentence in sentences]
    return list(sentences[: within_limit(texts, report_limit(topic, protocol))])
