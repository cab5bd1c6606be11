"""Loading preferences under a condition of their own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from django.db.models import Max

from assessor.campaigns.models import Campaign, Condition, Import
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.values import to_json
from assessor.imports.loaders.answers import About, AnswerFinder, Place
from assessor.imports.loaders.base import Options
from assessor.imports.loaders.conditions import ConditionLoader, find_condition, make_condition
from assessor.preference.formats import COMPARISON, Aggregate, Comparison, read_preferences
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.models import PreferencePair
from assessor.preference.verdicts import FIRST, SECOND, TIE, of_answers, preference
from assessor.runtime.sql import insert

_PAIR = (
    *("import_record", "condition", "topic", "first", "second", "position", "second_stood_first", "by_rule"),
    *("verdict", "reversed_verdict", "version", "value", "state", "judge", "raw"),
)
_POINTS = {FIRST: (1, -1), SECOND: (-1, 1), TIE: (0, 0)}


class NewPair(NamedTuple):
    """A pair to be written. places: of its answers, by the bytes of the runs' tags; further: keys of its line."""

    qid: str
    places: tuple[Place, Place]
    second_stood_first: bool
    verdict: str
    further: dict[str, object]

    @property
    def key(self) -> str:
        """What names the pair, in whichever order a line has it."""
        return _key(self.qid, *(place.tag for place in self.places))


def _key(qid: str, first: str, second: str) -> str:
    return f"{qid} {first} {second}"  # none of them has blanks


class PreferenceLoader(ConditionLoader):
    """The condition, and the judge of its name, are made by the first file, and further files add pairs.

    A pair that stands there in both orders is one; where these disagree it is a tie. What lines of the kind aggregate
    say is computed here, and compared.
    """

    kind = "preferences"
    label = "Preferences"
    brings = "preferences"
    asks = ("condition", "by")

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return any(record.get("_type") == COMPARISON for record in beginning.records)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.name, self.by = options["condition"], options["by"]
        self.condition = find_condition(campaign, options, PREFERENCE.name, report)
        self.answers = AnswerFinder(campaign, report)
        self.topics: dict[str, int] = dict(campaign.topics.values_list("qid", "pk"))
        self._reversed: dict[str, str] = {}  # the second of two verdicts that disagree, by key
        self._borda: Counter[tuple[str, str]] = Counter()  # by topic id and run's tag
        self._aggregates: list[Aggregate] = []
        self._position: dict[int, count[int]] = {}

    def read(self, lines: Iterable[Line]) -> Iterator[Comparison | Aggregate]:
        return read_preferences(lines, self.report)

    def sift(self, records: Sequence[Comparison | Aggregate]) -> list[NewPair]:
        self._aggregates += [one for one in records if isinstance(one, Aggregate)]
        known = [one for one in records if isinstance(one, Comparison) and self._has_topic(one)]
        found = [
            self.answers.find(
                [About(one.line, one.runs[at], self.topics[one.qid], one.texts[at]) for one in known],
                f"passage_{at + 1}",
            )
            for at in (0, 1)
        ]
        pairs = []
        for record, first, second in zip(known, *found, strict=True):
            pair = self._pair(record, first, second) if first and second else None
            if pair:
                pairs.append((record, pair))
        loaded = self._loaded([pair for _, pair in pairs])
        return [pair for record, pair in pairs if self._is_new(record, pair, loaded)]

    def _has_topic(self, record: Comparison) -> bool:
        if record.qid in self.topics:
            return True
        expected = "a topic of the campaign; load the topics first"
        self.report.error(record.line.number, "query_id", record.qid, expected)
        return False

    def _pair(self, record: Comparison, first: Place, second: Place) -> NewPair | None:
        """Return the pair of a line, or None where another line had it before."""
        number, tags = record.line.number, (first.tag, second.tag)
        if first.tag == second.tag:
            self.report.error(number, "run_id2", record.runs[1], f"another run than {first.tag}")
            return None
        if self.repeats(f"line {_key(record.qid, *tags)}", record.line, "run_id2", f"{' and '.join(tags)} once more"):
            return None
        is_swapped = first.tag.encode() > second.tag.encode()
        places = (second, first) if is_swapped else (first, second)
        pair = NewPair(record.qid, places, is_swapped, record.verdict, record.further)
        value = of_answers(record.verdict, second_stood_first=is_swapped)
        before = self.seen.before(f"pair {pair.key}", record.line, value)
        if before is None:
            self._count(pair, value, 1)
            return pair
        self.report.counts["flipped duplicates"] += 1
        if before.value != value:
            self._reversed[pair.key] = record.verdict
            self._count(pair, before.value, -1)
            expected = f"what line {before.line} says the other way round: a tie"
            self.report.warn("two orders disagree", number, "better_passage", int(record.verdict), expected)
        return None

    def _count(self, pair: NewPair, value: str, times: int) -> None:
        for place, points in zip(pair.places, _POINTS[value], strict=True):
            self._borda[pair.qid, place.tag] += times * points

    def _loaded(self, pairs: Sequence[NewPair]) -> dict[frozenset[int], PreferencePair]:
        """Return the condition's pairs on these topics, by both answers' keys."""
        if self.condition is None:
            return {}
        topics = {self.topics[pair.qid] for pair in pairs}
        own = PreferencePair.objects.filter(condition=self.condition, topic__in=topics)
        return {frozenset((pair.first_id, pair.second_id)): pair for pair in own}

    def _is_new(self, record: Comparison, pair: NewPair, loaded: dict[frozenset[int], PreferencePair]) -> bool:
        answers = [place.answer for place in pair.places if place.answer]
        there = loaded.get(frozenset(answers)) if len(answers) == 2 else None
        if there is None:
            return True
        known = there.verdict
        if known and there.second_stood_first != pair.second_stood_first:
            known = of_answers(known, second_stood_first=True)
        if known != record.verdict:
            expected = f"{known}, as {self.name} has {' and '.join(record.runs)} on {record.qid} already"
            self.report.error(record.line.number, "better_passage", int(record.verdict), expected)
        self.report.counts["pairs already there"] += 1
        return False

    def end(self) -> None:
        """Say where an aggregate is not what the comparisons come to; the comparisons count."""
        names = {run: self.answers.tag_of(run) for run in {one.run_id for one in self._aggregates}}
        for one in self._aggregates:
            borda = self._borda.get((one.qid, names[one.run_id]))
            if borda is None:
                self.report.error(one.line.number, "run_id", one.run_id, f"a run that is compared on {one.qid}")
            elif borda != one.borda:
                expected = f"{borda}, by the comparisons"
                self.report.warn("aggregate differs", one.line.number, "borda_score", one.borda, expected)

    def write(self, new: list[NewPair], import_record: Import) -> None:
        if not new:
            return
        if self.condition is None:
            self.condition = make_condition(
                import_record, self.report, kind=PREFERENCE.name, name=self.name, by=self.by
            )
        keys = iter(self.answers.write([place for pair in new for place in pair.places], import_record))
        rows = [self._row(self.condition, pair, next(keys), next(keys), import_record) for pair in new]
        insert(PreferencePair, _PAIR, rows)
        self.report.counts["pairs added"] += len(rows)

    def _row(
        self, condition: Condition, pair: NewPair, first: int, second: int, import_record: Import
    ) -> tuple[object, ...]:
        topic = self.topics[pair.qid]
        verdicts = pair.verdict, self._reversed.get(pair.key)
        value = preference(verdicts, second_stood_first=pair.second_stood_first)
        place = (topic, first, second, self._next_position(condition, topic), pair.second_stood_first, False)
        of_label = (*verdicts, 0, value, PreferencePair.State.GIVEN.value, condition.judge_id)
        raw = to_json(pair.further) if pair.further else None
        return (import_record.pk, condition.pk, *place, *of_label, raw)

    def _next_position(self, condition: Condition, topic: int) -> int:
        if topic not in self._position:
            own = PreferencePair.everything.filter(condition=condition, topic=topic)
            last = own.aggregate(last=Max("position"))["last"]
            self._position[topic] = count(0 if last is None else last + 1)
        return next(self._position[topic])

    def finish(self, import_record: Import) -> None:
        self.answers.finish(import_record)
