"""What the API lists of conditions of a kind: the lines of their files. Each app says it in its api.py."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from ninja import Schema
from pydantic import ConfigDict

from assessor.campaigns.models import Condition, Run, Topic
from assessor.exportables import topics_of

Json = dict[str, Any]
Key = tuple[Any, ...]
Rows = Iterator[tuple[Key, Json]]


class LineSchema(Schema):
    """A line of a file, which keeps further keys as they came."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True, kw_only=True)
class ApiList:
    """A list of what stands under a condition, by topic id.

    name: at the end of its address and of its operation's name, for ever; about: the operation's description; schema:
    of an item. has_runs: whether runs can be chosen. rows: all items of topics and runs, each with its key, in the
    order of the keys; key: of what types a key's parts are, the topic id first. topics: those of them with an item.
    """

    name: str
    about: str
    schema: type[Schema]
    has_runs: bool
    key: tuple[type, ...]
    rows: Callable[[Condition, Collection[Topic], Collection[Run] | None], Rows]
    topics: Callable[[Condition, Collection[Topic], Collection[Run] | None], QuerySet[Topic]]


def list_of_answers(
    *,
    name: str,
    about: str,
    schema: type[Schema],
    sheets: Any,
    lines: Callable[[Condition, Collection[Topic] | None, Collection[Run] | None], Iterator[str]],
) -> ApiList:
    """Return the list of judged answers, by topic id and run's tag. sheets: their model; lines: of its file."""

    def rows(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> Rows:
        for item in map(read_line, lines(condition, topics, runs)):
            yield (str(item["qid"] if "qid" in item else item["topic_id"]), item["run_id"]), item

    def judged(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> QuerySet[Topic]:
        found = sheets.objects.filter(condition=condition, answer__topic__in=topics)
        if runs is not None:
            found = found.filter(answer__run__in=runs)
        return topics_of(found, "answer__topic")

    return ApiList(name=name, about=about, schema=schema, has_runs=True, key=(str, str), rows=rows, topics=judged)


def read_line(line: str) -> Json:
    """Return what a line says; NIST's file has NaN for the text of some sentences, which is no text."""
    told: Json = json.loads(line, parse_constant=lambda name: None)
    return told
