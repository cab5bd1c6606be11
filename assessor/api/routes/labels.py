"""Nuggets and labels, as the exports write them; who reads a model's has seen them."""

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from assessor.api.asked import OfTopics, OfTopicsAndRuns, condition_of, judged_topics, runs_called
from assessor.api.bearer import asker
from assessor.api.describing import many
from assessor.api.paging import Id, Json, Key, Listing, Text, answer, of_rows
from assessor.api.schemas import AssignmentItem, BankItem, SupportItem
from assessor.api.seeing import Seen, topics_of
from assessor.collection.access import organized_campaign
from assessor.collection.models import Condition, Run, Topic
from assessor.collection.queries import byte_order
from assessor.work.exposing import take_away
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet
from nuggets.exports import bank_lines
from nuggets.queries import finished_banks
from support.exports import support_lines
from support.models import SupportSheet

router = Router()
Lines = Callable[[Condition, Collection[Topic], Collection[Run] | None], Iterator[str]]


@many(router, "/campaigns/{slug}/conditions/{condition_id}/nuggets", "list_nuggets", BankItem, "labels")
def list_nuggets(request: HttpRequest, slug: Text, condition_id: Id, asked: Query[OfTopics]) -> HttpResponseBase:
    """The finished banks of a condition by topic id, in the field's form; none of topics for practice."""
    campaign = organized_campaign(asker(request), slug)
    condition = condition_of(campaign, condition_id, "nuggets")
    topics = judged_topics(campaign, asked.topic)

    def after(key: Key | None, most: int | None) -> Iterator[tuple[Key, Json]]:
        banks = finished_banks(condition).filter(topic__in=[one for one in topics if not key or one.qid >= key[0]])
        banks = banks.prefetch_related("nuggets").order_by(byte_order("topic__qid"), "pk")
        found = zip(banks, map(_read, bank_lines(banks)), strict=True)
        return of_rows((((bank.topic.qid, bank.pk), item) for bank, item in found), (str, int)).after(key, most)

    banks = finished_banks(condition).filter(topic__in=topics)
    return answer(request, asked, Listing(after, (str, int)), _seen(request, condition, topics_of(banks)))


@many(router, "/campaigns/{slug}/conditions/{condition_id}/assignments", "list_assignments", AssignmentItem, "labels")
def list_assignments(
    request: HttpRequest, slug: Text, condition_id: Id, asked: Query[OfTopicsAndRuns]
) -> HttpResponseBase:
    """The labels of nuggets in answers under a condition, in NIST's form, by topic id and run's tag."""
    sheets = AnswerSheet.objects.all()
    return _labels(request, slug, condition_id, asked, "assignment", assignment_lines, sheets)


@many(router, "/campaigns/{slug}/conditions/{condition_id}/support", "list_support", SupportItem, "labels")
def list_support(request: HttpRequest, slug: Text, condition_id: Id, asked: Query[OfTopicsAndRuns]) -> HttpResponseBase:
    """The labels of citations under a condition, in NIST's form, by topic id and run's tag."""
    sheets = SupportSheet.objects.all()
    return _labels(request, slug, condition_id, asked, "support", support_lines, sheets)


def _labels(
    request: HttpRequest,
    slug: str,
    condition_id: int,
    asked: OfTopicsAndRuns,
    kind: str,
    lines: Lines,
    sheets: QuerySet[Any],
) -> HttpResponseBase:
    campaign = organized_campaign(asker(request), slug)
    condition = condition_of(campaign, condition_id, kind)
    topics = judged_topics(campaign, asked.topic)
    runs = runs_called(campaign, asked.run) if asked.run else None

    def after(key: Key | None, most: int | None) -> Iterator[tuple[Key, Json]]:
        items = map(_read, lines(condition, [one for one in topics if not key or one.qid >= key[0]], runs))
        return of_rows(((_place(item), item) for item in items), (str, str)).after(key, most)

    sheets = sheets.filter(condition=condition, answer__topic__in=topics)
    if runs is not None:
        sheets = sheets.filter(answer__run__in=runs)
    seen = _seen(request, condition, topics_of(sheets, "answer__topic"))
    return answer(request, asked, Listing(after, (str, str)), seen)


def _read(line: str) -> Json:
    """Return what a line says; NIST's file has NaN for the text of some sentences, which is no text."""
    told: Json = json.loads(line, parse_constant=lambda name: None)
    return told


def _place(item: Json) -> Key:
    return str(item["qid"] if "qid" in item else item["topic_id"]), item["run_id"]


def _seen(request: HttpRequest, condition: Condition, topics: QuerySet[Topic]) -> Seen:
    person, where = asker(request), f"API: {condition}"
    return Seen(condition.campaign, topics, lambda some: take_away(person, condition, some, where))
