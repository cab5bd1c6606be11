"""What was loaded: topics, segments, runs and their answers, grades."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Field, Query, Router

from assessor.api.authentication import asker
from assessor.api.exposure import Seen, topics_of
from assessor.api.lookups import OfTopics, OfTopicsAndRuns, runs_called, source_of, topics_called
from assessor.api.operations import many
from assessor.api.pagination import MOST, Asked, Id, Text, answer, of_records
from assessor.api.schemas import AnswerItem, GradeItem, RunItem, SegmentItem, SourceItem, TopicItem
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.models import Answer, Grade, QrelsSource, Run, Segment, Topic
from assessor.work.exposure import take_grades

router = Router()


class SegmentsAsked(Asked):
    docid: list[Text] = Field([], max_length=MOST, description="These alone; what is not loaded is not there.")


@many(router, "/campaigns/{slug}/topics", "list_topics", TopicItem, "texts")
def list_topics(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """The topics."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(campaign.topics.all(), _topic))


def _topic(topic: Topic) -> dict[str, Any]:
    return {"qid": topic.qid, "title": topic.title, "is_practice": topic.is_practice, "extras": topic.extras}


@many(router, "/campaigns/{slug}/segments", "list_segments", SegmentItem, "texts")
def list_segments(request: HttpRequest, slug: Text, asked: Query[SegmentsAsked]) -> HttpResponseBase:
    """The passages whose text is loaded, all or those with the given docids."""
    segments = organized_campaign(asker(request), slug).segments.all()
    if asked.docid:
        segments = segments.filter(docid__in=asked.docid)
    return answer(request, asked, of_records(segments, _segment))


def _segment(segment: Segment) -> dict[str, Any]:
    return {"docid": segment.docid, "text": segment.text, "extras": segment.extras}


@many(router, "/campaigns/{slug}/runs", "list_runs", RunItem, "texts")
def list_runs(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """The runs, control runs too; their task is "control"."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(campaign.runs.prefetch_related("aliases"), _run))


def _run(run: Run) -> dict[str, Any]:
    told = {name: getattr(run, name) for name in ("tag", "team", "task", "type", "priority")}
    return told | {"aliases": [alias.name for alias in run.aliases.all()], "generator": run.families}


@many(router, "/campaigns/{slug}/answers", "list_answers", AnswerItem, "texts")
def list_answers(request: HttpRequest, slug: Text, asked: Query[OfTopicsAndRuns]) -> HttpResponseBase:
    """What the runs themselves answered; no texts that only labels refer to."""
    campaign = organized_campaign(asker(request), slug)
    answers = Answer.objects.filter(run__campaign=campaign, apart=False).select_related("run", "topic")
    if asked.topic:
        answers = answers.filter(topic__in=topics_called(campaign, asked.topic))
    if asked.run:
        answers = answers.filter(run__in=runs_called(campaign, asked.run))
    return answer(request, asked, of_records(answers, _answer))


def _answer(found: Answer) -> dict[str, Any]:
    sentences = [
        {"text": sentence.text, "citations": [citation.docid for citation in sentence.citations]}
        for sentence in found.sentences()
    ]
    return {"qid": found.topic.qid, "run_id": found.run.tag, "words": found.words, "sentences": sentences}


@many(router, "/campaigns/{slug}/qrels", "list_qrels_sources", SourceItem, "texts")
def list_qrels_sources(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """Where relevance grades come from."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(campaign.qrels_sources.select_related("condition"), _source))


def _source(source: QrelsSource) -> dict[str, Any]:
    condition = str(source.condition) if source.condition else None
    told = {"id": source.pk, "name": source.name, "by": source.by, "max_grade": source.max_grade}
    return told | {"condition": condition}


@many(router, "/campaigns/{slug}/qrels/{source_id}/grades", "list_grades", GradeItem, "texts")
def list_grades(request: HttpRequest, slug: Text, source_id: Id, asked: Query[OfTopics]) -> HttpResponseBase:
    """The grades of a source, with -1 and -2 for what was not judged; none on topics for practice."""
    campaign = organized_campaign(asker(request), slug)
    source = source_of(campaign, source_id)
    grades = Grade.with_unjudged.filter(source=source, topic__is_practice=False).select_related("topic")
    if asked.topic:
        grades = grades.filter(topic__in=topics_called(campaign, asked.topic))
    where, person = f"API: {source}", asker(request)
    seen = Seen(
        campaign,
        topics_of(grades),
        lambda topics: take_grades(person, source, topics, where),
        lambda key, item: str(item["qid"]),
    )
    return answer(request, asked, of_records(grades, _grade), seen)


def _grade(found: Grade) -> dict[str, Any]:
    return {"qid": found.topic.qid, "docid": found.docid, "grade": found.grade, "iteration": found.iteration}
