"""Answers that lines of labels are about: found where they are loaded, and made from the lines where they are not."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

from assessor.campaigns import changed_answers
from assessor.campaigns.history import record as record_event
from assessor.campaigns.models import CONTROL, Answer, Campaign, Citation, Import, Run, Sentence
from assessor.campaigns.queries import PASSAGES_RUN, AmbiguousRun, find_run
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.values import to_json
from assessor.runtime.sql import insert

ANSWER_FIELDS = ("import_record", "run", "topic", "form", "references", "content", "extras", "words", "apart")
_SHOWN = 12  # words of two texts from where they differ


class Difference(NamedTuple):
    """Where a file's answer is not the one that is loaded: how a report calls it, and what each of them has there."""

    kind: str
    field: str
    found: str
    there: str


def difference(
    text: str, sentences: Sequence[Sentence] | None, there: Answer, field: str, *, is_run: bool = False
) -> Difference | None:
    """Return where a file's answer differs from a loaded one, or None: then they are one answer.

    Texts are compared without regard to blanks, and sentences too, where both are known. What labels are about must be
    cited by the run: is_run says that the file has the run's answer. field: where the file has the answer.
    """
    if different := _other_text(text, there.text, field):
        return different
    if sentences is None or there.form == Answer.Form.TEXT:
        return None
    loaded = list(there.sentences())
    for at, (one, other) in enumerate(zip_longest(sentences, loaded)):
        if one is None or other is None or not agree(one.text, other.text):
            found, known = (sentence.text if sentence else "no sentence" for sentence in (one, other))
            return Difference("answer sentences differ", f"{field}[{at}].text", found, known)
    if there.form == Answer.Form.SENTENCES and not is_run:
        return None  # neither need have all that the run cites
    for at, (one, other) in enumerate(zip(sentences, loaded, strict=True)):
        found, known = ([citation.docid for citation in sentence.citations] for sentence in (one, other))
        part, whole = (known, found) if is_run else (found, known)
        lacking = next((docid for docid in part if docid not in whole), None)
        if lacking:
            shown = (f"no {lacking}", lacking) if is_run else (lacking, f"no {lacking}")
            return Difference("cited passages differ", f"{field}[{at}].citations", *shown)
    return None


def _other_text(one: str, other: str, field: str) -> Difference | None:
    """Compare two texts; where they differ, show both from there."""
    if agree(one, other):
        return None
    words, others = one.split(), other.split()
    pairs = zip(words, others, strict=False)
    at = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(words), len(others)))
    found, there = (" ".join(text[at : at + _SHOWN]) or "the end" for text in (words, others))
    return Difference("answer text differs", field, f"word {at + 1}: {found}", there)


def agree(one: str, other: str) -> bool:
    """Say whether two texts are the same but for blanks."""
    return one == other or one.split() == other.split()


def warn_of(different: Difference, line: Line, tag: str, report: Report) -> None:
    """Warn that a file's answer is not the one that is loaded."""
    kind, field, found, there = different
    report.warn(kind, line.number, field, found, f"{there}, as {tag} has it already")


class About(NamedTuple):
    """An answer as a line of labels names it: by the run's name as it is spelt there, and the topic's key.

    sentences: None where the line has the text alone. docid: where it is about a passage, and no answer.
    """

    line: Line
    run_id: str
    topic: int
    text: str
    sentences: tuple[Sentence, ...] | None = None
    docid: str = ""


class Place(NamedTuple):
    """Where labels belong.

    run: its key, or None where it is still to be made under this tag. answer: its key, or None where one is still to
    be made in this form; apart says whether that is not what the run answered. sentences: the answer's, as they will
    be; gives says whether those of a loaded answer are not all there yet. differs: whether the loaded text has other
    blanks. known: keys of all texts that are loaded as the run's answer to the topic, or as the passage of docid.
    """

    tag: str
    run: int | None
    topic: int
    answer: int | None
    form: Answer.Form
    sentences: tuple[Sentence, ...]
    gives: bool
    apart: bool
    differs: bool
    known: tuple[int, ...]
    docid: str = ""


def content_of(sentences: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Return sentences as an answer keeps them."""
    return [
        {"text": sentence.text, "citations": [citation.docid for citation in sentence.citations]}
        for sentence in sentences
    ]


def _with_citations(sentences: Iterable[Sentence], others: Iterable[Sentence]) -> tuple[Sentence, ...]:
    """Return sentences with what others cite besides, behind what they cite themselves."""
    both = []
    for one, other in zip(sentences, others, strict=True):
        docids = dict.fromkeys(citation.docid for citation in (*one.citations, *other.citations))
        both.append(one._replace(citations=tuple(Citation(*pair) for pair in enumerate(docids))))
    return tuple(both)


class AnswerFinder:
    """Finds the answers that a file of labels is about, and makes those that are not loaded.

    Labels refer to the run's own answer where it is that of the line but for blanks. Where it is another one, they are
    never put on it: the line's answer is kept apart, as one that nothing but labels refers to. Where less is loaded
    than the line has, the loaded answer gets it once the import is done: sentences of a text, citations of sentences.
    """

    def __init__(self, campaign: Campaign, report: Report) -> None:
        self.campaign = campaign
        self.report = report
        self._runs: dict[str, Run | None] = {}
        self._ambiguous: dict[str, str] = {}
        self._made: dict[str, int] = {}
        self._newest = 0
        self._given: dict[int, str] = {}  # JSON is smaller than what it stands for

    def find(self, asked: Sequence[About], field: str) -> list[Place | None]:
        """Return where labels belong, in this order; None where two runs have the name, which is an error.

        field: where the lines have the answer.
        """
        self._find_runs({about.run_id for about in asked})
        loaded = self._loaded(asked)
        return [self._place(about, field, loaded) for about in asked]

    def tag_of(self, name: str) -> str:
        """Return the tag of the run that a file calls so, once find() has looked for it."""
        run = self._runs.get(name)
        return run.tag if run else name

    def _find_runs(self, names: set[str]) -> None:
        for name in names - self._runs.keys() - self._ambiguous.keys():
            try:
                self._runs[name] = find_run(self.campaign, name)
            except AmbiguousRun as error:
                self._ambiguous[name] = str(error)

    def _loaded(self, asked: Sequence[About]) -> dict[tuple[int, int, str], list[Answer]]:
        """Return the loaded answers by run, topic and docid: a run's own, then the texts kept apart from it."""
        wanted = {(run.pk, about.topic) for about in asked if (run := self._runs.get(about.run_id))}
        if not wanted:
            return {}
        runs, topics = zip(*wanted, strict=True)
        keys = Answer.objects.filter(run__in=set(runs), topic__in=set(topics)).values_list("pk", "run_id", "topic_id")
        pks = [pk for pk, *pair in keys if tuple(pair) in wanted]
        loaded: dict[tuple[int, int, str], list[Answer]] = {}
        for answer in Answer.objects.filter(pk__in=pks).order_by("apart", "pk"):
            loaded.setdefault((answer.run_id, answer.topic_id, answer.docid), []).append(answer)
        return loaded

    def _place(self, about: About, field: str, loaded: dict[tuple[int, int, str], list[Answer]]) -> Place | None:
        if about.run_id in self._ambiguous:
            self.report.error(about.line.number, "run_id", about.run_id, self._ambiguous[about.run_id])
            return None
        run = self._runs[about.run_id]
        if run is None:
            return self._new(about, about.run_id, None, ())
        answers = loaded.get((run.pk, about.topic, about.docid), [])
        known = tuple(answer.pk for answer in answers)
        for answer in answers:
            different = difference(about.text, about.sentences, answer, field)
            if different is None:
                # Other texts of a document are other passages, and no other answers.
                return self._found(about, answer, run, (answer.pk,) if about.docid else known)
            if answer is answers[0] and not about.docid:
                warn_of(different, about.line, run.tag, self.report)
        return self._new(about, run.tag, run.pk, () if about.docid else known)

    def _new(self, about: About, tag: str, run: int | None, known: tuple[int, ...]) -> Place:
        form = Answer.Form.TEXT if about.sentences is None else Answer.Form.SENTENCES
        sentences = (Sentence(0, about.text, ()),) if about.sentences is None else about.sentences
        place = Place(tag, run, about.topic, None, form, sentences, False, bool(known), False, known)
        return place._replace(form=Answer.Form.PASSAGE, apart=True, docid=about.docid) if about.docid else place

    def _found(self, about: About, answer: Answer, run: Run, known: tuple[int, ...]) -> Place:
        loaded = () if about.sentences is None else tuple(answer.sentences())
        sentences = loaded
        if about.sentences is not None and answer.form == Answer.Form.TEXT:
            sentences = about.sentences
        elif about.sentences is not None and answer.form == Answer.Form.SENTENCES:
            sentences = _with_citations(loaded, about.sentences)
        # Also where there is but one sentence and it cites nothing: that is known from now on.
        was_text = about.sentences is not None and answer.form == Answer.Form.TEXT
        gives, differs, form = was_text or sentences != loaded, about.text != answer.text, Answer.Form(answer.form)
        place = Place(run.tag, run.pk, about.topic, answer.pk, form, sentences, gives, answer.apart, differs, known)
        return place._replace(docid=about.docid)

    def write(self, places: Sequence[Place], import_record: Import) -> list[int]:
        """Make the answers that are not there, and their runs; return the keys of all, in this order."""
        new = [place for place in places if place.answer is None]
        made: Iterator[int] = iter(())
        if new:
            insert(Answer, ANSWER_FIELDS, [self._row(place, import_record) for place in new])
            added = Answer.everything.filter(import_record=import_record, pk__gt=self._newest)
            keys = list(added.order_by("pk").values_list("pk", flat=True))  # written one after the other
            made, self._newest = iter(keys), keys[-1]
            self.report.counts["passages added" if new[0].docid else "answers added"] += len(new)
        self._given |= {
            place.answer: to_json(content_of(place.sentences)) for place in places if place.answer and place.gives
        }
        return [place.answer or next(made) for place in places]

    def _row(self, place: Place, import_record: Import) -> tuple[Any, ...]:
        content = content_of(place.sentences)
        words = len(" ".join(sentence["text"] for sentence in content).split())
        owners = (import_record.pk, self._run(place, import_record), place.topic)
        references = to_json([place.docid] if place.docid else [])
        return (*owners, place.form.value, references, to_json(content), "{}", words, place.apart)

    def _run(self, place: Place, import_record: Import) -> int:
        if place.run is None and place.tag not in self._made:
            task = CONTROL if place.docid and place.tag == PASSAGES_RUN else ""
            run = Run.everything.create(import_record=import_record, campaign=self.campaign, tag=place.tag, task=task)
            self._made[place.tag] = run.pk
            self.report.counts["runs added"] += 1
        return place.run or self._made[place.tag]

    def finish(self, import_record: Import) -> None:
        """Give loaded answers what the file has besides, and tell who follows texts that got their sentences."""
        before: dict[Answer, Sequence[Sentence]] = {}
        texts: list[Answer] = []
        extended: list[Answer] = []
        answers = Answer.objects.select_related("run", "topic")
        for pk, content in self._given.items():
            answer = answers.get(pk=pk)
            before[answer] = tuple(answer.sentences())
            (texts if answer.form == Answer.Form.TEXT else extended).append(answer)
            answer.form, answer.content = Answer.Form.SENTENCES, json.loads(content)
            answer.save(update_fields=["form", "content"])
        changed_answers.answers_changed(before)
        self._record("answers joined", texts, import_record)
        self._record("citations joined", extended, import_record)

    def _record(self, what: str, answers: Iterable[Answer], import_record: Import) -> None:
        for run, of_run in groupby(sorted(answers, key=attrgetter("run.tag", "pk")), attrgetter("run")):
            qids = [answer.topic.qid for answer in of_run]
            self.report.counts[what] += len(qids)
            record_event(what, run, campaign=self.campaign, person=import_record.person, topics=qids)
