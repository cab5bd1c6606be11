"""Support judgments in NIST's form."""

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from assessor.collection.models import Condition, Run, Topic
from assessor.collection.queries import byte_order, without_practice
from support.citations import places
from support.formats import SPELT, write_sheet, written_citation, written_sentence
from support.models import SupportSheet

_AT_A_TIME = 100


def support_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's labels, a line for each answer, by topic id and run's tag; of these topics and runs alone.

    Of several answers of a run to a topic it is its own. A line has all sentences, and those citations that are judged
    under the condition. Where no label counts, there is no key "support", or what an imported file had there.
    """
    sheets = SupportSheet.objects.filter(condition=condition).select_related("answer__run")
    if runs is not None:
        sheets = sheets.filter(answer__run__in=runs)
    of_condition = without_practice(Topic.objects.filter(pk__in=sheets.order_by().values("answer__topic")), "pk")
    wanted = None if topics is None else {topic.pk for topic in topics}
    # One topic after another, so that not all the texts of a track have to be sorted.
    for topic in of_condition.order_by(byte_order("qid")):
        if wanted is None or topic.pk in wanted:
            of_topic = sheets.filter(answer__topic=topic)
            rows = of_topic.order_by(byte_order("answer__run__tag"), "answer__run", "answer__apart", "pk")
            for _, of_run in groupby(rows.iterator(_AT_A_TIME), lambda sheet: sheet.answer.run_id):
                yield _line(topic, next(of_run))


def _line(topic: Topic, sheet: SupportSheet) -> str:
    extras = dict(sheet.extras)
    further = extras.pop("sentences", {})
    asked: dict[int, list[int]] = {}
    for sentence, citation in map(places, sheet.asked):
        asked.setdefault(sentence, []).append(citation)
    said = _said(sheet)
    sentences = []
    for at, text, cited in sheet.answer.sentences():
        keys = dict(further.get(str(at), {}))
        of_citations = keys.pop("citations", {})
        citations = [
            written_citation(place, cited[place].docid, said.get((at, place), {}), of_citations.get(str(place), {}))
            for place in asked.get(at, ())
        ]
        sentences.append(written_sentence(at, text, citations, keys))
    return write_sheet(topic.qid, sheet.answer.run.tag, sentences, extras)


def _said(sheet: SupportSheet) -> dict[tuple[int, int], dict[str, Any]]:
    """Return the labels that count, and what a file had in the place of one."""
    labels = {key: SPELT[label] for key, label in (sheet.adopted | sheet.labels).items()}
    return {places(key): {"support": found} for key, found in (sheet.invalid | labels).items()}
