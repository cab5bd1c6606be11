"""Answers that lines of labels are about: found where they are loaded, and made from their text where they are not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report
from assessor.collection.formats.values import to_json
from assessor.collection.loaders.base import insert
from assessor.collection.models import Answer, Campaign, Import, Run
from assessor.collection.queries import AmbiguousRun, find_run

ANSWER_FIELDS = ("import_record", "run", "topic", "form", "references", "content", "extras", "words", "apart")
_SHOWN = 12  # words of two texts from where they differ


def agree(one: str, other: str) -> bool:
    """Say whether two texts of an answer are the same but for blanks."""
    return one == other or one.split() == other.split()


def warn_of_texts(one: str, other: str, field: str, line: Line, tag: str, report: Report) -> None:
    """Warn that a file's text of an answer is not the one that is loaded, and show both from where they differ."""
    words, others = one.split(), other.split()
    pairs = zip(words, others, strict=False)
    at = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(words), len(others)))
    found, there = (" ".join(text[at : at + _SHOWN]) or "the end" for text in (words, others))
    report.warn(
        "answer text differs", line.number, field, f"word {at + 1}: {found}", f"{there}, as {tag} has it already"
    )


class About(NamedTuple):
    """An answer as a line of labels names it: by the run's name as it is spelt there, and the topic's key."""

    line: Line
    run_id: str
    topic: int
    text: str


class Place(NamedTuple):
    """Where labels belong.

    run: its key, or None where it is still to be made under this tag. answer: its key, or None where one is still to
    be made of the text; apart says whether that is not what the run answered. differs: whether the loaded text has
    other blanks. known: keys of all texts that are loaded as the run's answer to the topic.
    """

    tag: str
    run: int | None
    topic: int
    answer: int | None
    text: str
    apart: bool
    differs: bool
    known: tuple[int, ...]


class AnswerFinder:
    """Finds the answers that a file of labels is about, and makes those that are not loaded.

    Labels refer to the run's own answer where its text is that of the line but for blanks. Where it is another text,
    they are never put on it: the line's text is kept apart, as an answer that nothing but labels refers to.
    """

    def __init__(self, campaign: Campaign, report: Report) -> None:
        self.campaign = campaign
        self.report = report
        self._runs: dict[str, Run | None] = {}
        self._ambiguous: dict[str, str] = {}
        self._made: dict[str, int] = {}
        self._newest = 0

    def find(self, asked: Sequence[About]) -> list[Place | None]:
        """Return where labels belong, in this order; None where two runs have the name, which is an error."""
        self._find_runs({about.run_id for about in asked})
        loaded = self._loaded(asked)
        return [self._place(about, loaded) for about in asked]

    def _find_runs(self, names: set[str]) -> None:
        for name in names - self._runs.keys() - self._ambiguous.keys():
            try:
                self._runs[name] = find_run(self.campaign, name)
            except AmbiguousRun as error:
                self._ambiguous[name] = str(error)

    def _loaded(self, asked: Sequence[About]) -> dict[tuple[int, int], list[Answer]]:
        """Return the loaded answers by run and topic: a run's own, then the texts kept apart from it."""
        wanted = {(run.pk, about.topic) for about in asked if (run := self._runs.get(about.run_id))}
        if not wanted:
            return {}
        runs, topics = zip(*wanted, strict=True)
        keys = Answer.objects.filter(run__in=set(runs), topic__in=set(topics)).values_list("pk", "run_id", "topic_id")
        pks = [pk for pk, *pair in keys if tuple(pair) in wanted]
        loaded: dict[tuple[int, int], list[Answer]] = {}
        for answer in Answer.objects.filter(pk__in=pks).order_by("apart", "pk"):
            loaded.setdefault((answer.run_id, answer.topic_id), []).append(answer)
        return loaded

    def _place(self, about: About, loaded: dict[tuple[int, int], list[Answer]]) -> Place | None:
        if about.run_id in self._ambiguous:
            self.report.error(about.line.number, "run_id", about.run_id, self._ambiguous[about.run_id])
            return None
        run = self._runs[about.run_id]
        if run is None:
            return Place(about.run_id, None, about.topic, None, about.text, False, False, ())
        answers = loaded.get((run.pk, about.topic), [])
        texts = [answer.text for answer in answers]
        known = tuple(answer.pk for answer in answers)
        if texts and not agree(about.text, texts[0]):
            warn_of_texts(about.text, texts[0], "answer_text", about.line, run.tag, self.report)
        for answer, text in zip(answers, texts, strict=True):
            if agree(about.text, text):
                return Place(run.tag, run.pk, about.topic, answer.pk, "", answer.apart, text != about.text, known)
        return Place(run.tag, run.pk, about.topic, None, about.text, bool(answers), False, known)

    def write(self, places: Sequence[Place], import_record: Import) -> list[int]:
        """Make the answers that are not there, and their runs; return the keys of all, in this order."""
        new = [place for place in places if place.answer is None]
        made: dict[tuple[int, int], int] = {}
        if new:
            insert(Answer, ANSWER_FIELDS, [self._row(place, import_record) for place in new])
            added = Answer.everything.filter(import_record=import_record, pk__gt=self._newest)
            keys = added.order_by().values_list("pk", "run_id", "topic_id")
            made = {(run, topic): pk for pk, run, topic in keys}
            self._newest = max(made.values())
            self.report.counts["answers added"] += len(new)
        return [place.answer or made[self._run(place, import_record), place.topic] for place in places]

    def _row(self, place: Place, import_record: Import) -> tuple[Any, ...]:
        content = to_json([{"text": place.text, "citations": []}])
        words = len(place.text.split())
        owners = (import_record.pk, self._run(place, import_record), place.topic)
        return (*owners, Answer.Form.TEXT.value, "[]", content, "{}", words, place.apart)

    def _run(self, place: Place, import_record: Import) -> int:
        if place.run is None and place.tag not in self._made:
            run = Run.everything.create(import_record=import_record, campaign=self.campaign, tag=place.tag)
            self._made[place.tag] = run.pk
            self.report.counts["runs added"] += 1
        return place.run or self._made[place.tag]
