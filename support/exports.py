"""Support judgments in NIST's form."""

import json
from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import Answer, Condition, Run, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.labels.models import Label
from assessor.labels.queries import labels_at_once
from support.formats import SPELT, write_sheet, written_citation, written_sentence
from support.models import SupportSheet

_AT_A_TIME = 100
_COLUMNS = ("extras", "import_record", "answer__run", "answer__run__tag", "answer__content", "answer__references")
_OF_LABEL = ("pk", "sentence", "citation", "state", "value", "resolved_value", "raw")


def support_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's labels, a line for each answer, by topic id and run's tag; of these topics and runs alone.

    Of several answers of a run to a topic it is its own. A line has all sentences, and those citations that are judged
    under the condition. Where no label counts, there is no key "support", or what an imported file had there.
    """
    sheets = SupportSheet.objects.filter(condition=condition)
    if runs is not None:
        sheets = sheets.filter(answer__run__in=runs)
    of_condition = without_practice(Topic.objects.filter(pk__in=sheets.order_by().values("answer__topic")), "pk")
    wanted = None if topics is None else {topic.pk for topic in topics}
    # One topic after another, so that not all the texts of a track have to be sorted.
    for topic in of_condition.order_by(byte_order("qid")):
        if wanted is None or topic.pk in wanted:
            yield from _topic_lines(topic, sheets.filter(answer__topic=topic))


def _topic_lines(topic: Topic, sheets: QuerySet[SupportSheet]) -> Iterator[str]:
    in_order = sheets.order_by(byte_order("answer__run__tag"), "answer__run", "answer__apart", "pk")
    rows = in_order.annotate(rows=labels_at_once(SupportSheet, *_OF_LABEL)).values(*_COLUMNS, "rows")
    for _, of_run in groupby(rows.iterator(_AT_A_TIME), itemgetter("answer__run")):
        yield _line(topic, next(of_run))


def _line(topic: Topic, sheet: dict[str, Any]) -> str:
    extras = dict(sheet["extras"])
    further = extras.pop("sentences", {})
    labels = sorted(json.loads(sheet["rows"] or "[]"))
    if sheet["import_record"] is None:  # as the answer has them; of one from a file as the file had them
        labels.sort(key=lambda label: label[1:3])
    asked: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for _, sentence, citation, state, value, resolved, raw in labels:
        counted = value if state == Label.State.GIVEN else resolved
        asked.setdefault(sentence, []).append(
            (citation, {"support": SPELT[counted]} if counted else json.loads(raw or "{}"))
        )
    answer = Answer(content=sheet["answer__content"], references=sheet["answer__references"])
    sentences = []
    for at, text, cited in answer.sentences():
        keys = dict(further.get(str(at), {}))
        of_citations = keys.pop("citations", {})
        citations = [
            written_citation(place, cited[place].docid, said, of_citations.get(str(place), {}))
            for place, said in asked.get(at, ())
        ]
        sentences.append(written_sentence(at, text, citations, keys))
    return write_sheet(topic.qid, sheet["answer__run__tag"], sentences, extras)
