"""What an organizer looks back at: pairs of a sentence and a passage that it cites, with all that was said of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from assessor.campaigns.models import Answer, Campaign, Condition, Sentence, Topic
from assessor.campaigns.passages import Passage, cited_passages, from_other_runs
from assessor.campaigns.queries import byte_order
from assessor.formats.values import to_json
from assessor.labels.models import Label
from support import queries
from support.citations import LABELS, NOT_JUDGED, places
from support.models import SupportJudgment, SupportSheet

# What can stand of a pair under a condition besides a label.
CANNOT, MISSING, NO_TEXT, WAITS = "can't judge", "missing", "no text", "waiting for the model"
GIVEN = (*LABELS, NOT_JUDGED)
STATES = (*GIVEN, CANNOT, MISSING, NO_TEXT, WAITS)
# Texts are as long as files had them; a page shows no more of them than this.
MAX_SENTENCE, MAX_PASSAGE, SENTENCES_AROUND = 2_000, 20_000, 30
_MAX_FOUND = 100  # characters of what a file had in the place of a label
_LEAST_LETTERS = 3  # of a word that is marked
_WORD = re.compile(r"[^\W_]+")


class Said(NamedTuple):
    """What stands of a pair under a condition that asks about it; what there isn't is empty.

    adopted: what counts instead, another person's label or that it is not judged; found: what a file had in the place
    of a label; shown: the model's label that stood beside the choices; sheet: where it stands, by key.
    """

    sheet: int
    state: str  # one of STATES
    reason: str
    adopted: str
    found: str
    shown: str
    flag: str

    @property
    def label(self) -> str:
        """The judge's own label, if there is one."""
        return self.state if self.state in GIVEN else ""


class Pair(NamedTuple):
    """A sentence of an answer and a docid that it cites: the answer without its texts, and the citation's key.

    said: by condition's key; has_sheet: those with a sheet.
    """

    answer: Answer
    key: str
    said: Mapping[int, Said]
    has_sheet: frozenset[int]


def supporting(campaign: Campaign) -> list[Condition]:
    """Return the conditions under which support is judged, by people, a model or a file, by name."""
    return list(queries.supporting(campaign).order_by("name"))


def topics_with_sheets(campaign: Campaign) -> list[Topic]:
    """Return the topics of a campaign to which there are answers with support sheets."""
    sheets = SupportSheet.objects.filter(answer__topic=OuterRef("pk"))
    return list(campaign.topics.filter(Exists(sheets)).order_by(byte_order("qid")))


def pairs_of(topic: Topic, conditions: Sequence[Condition]) -> list[Pair]:
    """Return all pairs of a topic that some condition asks about, by run and then in the answers' order.

    Of a track's topic they are thousands, and a page shows twenty: texts are read for these alone.
    """
    of_topic = Answer.objects.filter(topic=topic).select_related("run").only("run", "apart")
    answers = {answer.pk: answer for answer in of_topic}
    # By the answers' keys: asked by topic, SQLite goes through all sheets of the conditions.
    sheets = SupportSheet.objects.filter(answer__in=list(answers), condition__in=conditions).order_by("pk")
    has_sheet: dict[int, set[int]] = {}
    for of_answer, condition in sheets.values_list("answer", "condition"):
        has_sheet.setdefault(of_answer, set()).add(condition)
    asked = SupportJudgment.everything.filter(sheet__in=sheets.order_by()).exclude(state=Label.State.REMOVED)
    said: dict[int, dict[str, dict[int, Said]]] = {}
    for row in asked.select_related("sheet").defer("sheet__extras").order_by("pk"):
        of_pair = said.setdefault(row.sheet.answer_id, {}).setdefault(row.item, {})
        of_pair[row.sheet.condition_id] = _said(row)
    found = [answers[pk] for pk in has_sheet]
    found.sort(key=lambda answer: (answer.run.tag, answer.apart, answer.pk))
    return [
        Pair(answer, key, said[answer.pk][key], frozenset(has_sheet[answer.pk]))
        for answer in found
        for key in sorted(said.get(answer.pk, ()), key=places)
    ]


def _said(row: SupportJudgment) -> Said:
    stands = row.standing()
    found = to_json(stands["invalid"])[:_MAX_FOUND] if "invalid" in stands else ""
    nothing = {Label.State.NO_TEXT: NO_TEXT, Label.State.WAITING: WAITS}.get(Label.State(row.state), MISSING)
    reason = stands.get("cannot", "")
    state = stands.get("label") or (CANNOT if reason else nothing)
    return Said(
        row.sheet_id, state, reason, stands.get("adopted", ""), found, stands.get("shown", ""), stands.get("flag", "")
    )


class Wanted(NamedTuple):
    """What a condition says: which one, or any where it is None; its state, or any where it is empty."""

    condition: int | None
    state: str

    def holds(self, said: Mapping[int, Said]) -> bool:
        """Say whether it is so of a pair."""
        if self.condition is None:
            return not self.state or any(one.state == self.state for one in said.values())
        one = said.get(self.condition)
        return one is not None and self.state in ("", one.state)


def differ(said: Mapping[int, Said], conditions: Iterable[int]) -> bool:
    """Say whether conditions gave a pair labels that are not the same; one without a label differs from none."""
    labels = {said[condition].label for condition in conditions if condition in said}
    return len(labels - {""}) > 1


class Line(NamedTuple):
    """A sentence of an answer, near one that is looked at."""

    number: int  # from 1
    text: str
    is_it: bool


class Piece(NamedTuple):
    """A part of a passage."""

    text: str
    is_shared: bool  # a word that stands in the sentence too


class Shown(NamedTuple):
    """A pair as a page shows it.

    said: of each condition in the page's order, None where it doesn't ask; before, after: how many sentences of the
    answer are left out; cut: how many characters of the passage. segment: None where its text is not loaded; is_others:
    whether it came with another run's file, and not with one of this run.
    """

    pair: Pair
    sentence: str
    docid: str
    number: int  # of the sentence, from 1
    said: list[tuple[Condition, bool, Said | None]]  # and whether the condition has a sheet on the answer
    before: int
    lines: list[Line]
    after: int
    segment: Passage | None
    is_others: bool
    passage: list[Piece]
    cut: int


def shown(
    campaign: Campaign, pairs: Sequence[Pair], conditions: Sequence[Condition], *, with_words: bool
) -> list[Shown]:
    """Return pairs as a page shows them, with the texts of answers and passages."""
    answers = Answer.objects.in_bulk({pair.answer.pk for pair in pairs})
    sentences = {pk: list(answer.sentences()) for pk, answer in answers.items()}
    of_pairs = [sentences[pair.answer.pk] for pair in pairs]
    docids = [_docid(pair, of_answer) for pair, of_answer in zip(pairs, of_pairs, strict=True)]
    cited = [(pair.answer.run_id, docid) for pair, docid in zip(pairs, docids, strict=True)]
    segments = cited_passages(campaign, cited)
    others = from_other_runs(campaign, cited)
    return [
        _shown(
            pair,
            of_answer,
            one[1],
            segments.get(one),
            # A run's own file may have had the same text, after the other one.
            one in others and one[1] not in answers[pair.answer.pk].extras.get("documents", {}),
            conditions,
            with_words=with_words,
        )
        for pair, of_answer, one in zip(pairs, of_pairs, cited, strict=True)
    ]


def _docid(pair: Pair, sentences: Sequence[Sentence]) -> str:
    sentence, citation = places(pair.key)
    return sentences[sentence].citations[citation].docid


def _cut(text: str) -> str:
    """Return as much of a sentence as is shown. A template's filter goes through each letter: a sixth of the page."""
    return text if len(text) <= MAX_SENTENCE else text[: MAX_SENTENCE - 1] + "…"


def _shown(
    pair: Pair,
    sentences: Sequence[Sentence],
    docid: str,
    segment: Passage | None,
    is_others: bool,
    conditions: Sequence[Condition],
    *,
    with_words: bool,
) -> Shown:
    at, text = places(pair.key)[0], segment.text if segment else ""
    first = max(0, at - SENTENCES_AROUND)
    around = sentences[first : at + SENTENCES_AROUND + 1]
    passage = text[:MAX_PASSAGE]
    return Shown(
        pair,
        _cut(sentences[at].text),
        docid,
        at + 1,
        [(one, one.pk in pair.has_sheet, pair.said.get(one.pk)) for one in conditions],
        first,
        [Line(one.position + 1, _cut(one.text), one.position == at) for one in around],
        len(sentences) - first - len(around),
        segment,
        is_others,
        shared_words(sentences[at].text, passage) if with_words else [Piece(passage, is_shared=False)],
        len(text) - len(passage),
    )


def shared_words(sentence: str, passage: str) -> list[Piece]:
    """Return a passage in pieces, those words apart that the sentence has too, in whatever case.

    Words are letters and digits without anything between, three of them at the least.
    """
    words = {word.casefold() for word in _WORD.findall(sentence) if len(word) >= _LEAST_LETTERS}
    pieces, start = [], 0
    for word in _WORD.finditer(passage):
        if word[0].casefold() in words:
            pieces += [Piece(passage[start : word.start()], is_shared=False), Piece(word[0], is_shared=True)]
            start = word.end()
    pieces.append(Piece(passage[start:], is_shared=False))
    return [piece for piece in pieces if piece.text]
