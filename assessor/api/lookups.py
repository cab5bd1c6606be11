"""What is asked for in a campaign that one organizes: its records by key or name."""

from collections.abc import Sequence

from django.http import Http404
from ninja import Field

from assessor.api.pagination import MOST, Asked, Text, wrong
from assessor.campaigns.models import Campaign, Condition, QrelsSource, Run, Topic
from assessor.campaigns.queries import byte_order


class OfTopics(Asked):
    topic: list[Text] = Field([], max_length=MOST, description="Of these topics alone, by id.")


class OfTopicsAndRuns(OfTopics):
    run: list[Text] = Field([], max_length=MOST, description="Of these runs alone, by tag.")


def source_of(campaign: Campaign, source_id: int) -> QrelsSource:
    """Return a source of a campaign's grades. Raises Http404."""
    source: QrelsSource | None = campaign.qrels_sources.filter(pk=source_id).first()
    if source is None:
        raise Http404("There is no such source of grades in this campaign.")
    return source


def condition_of(campaign: Campaign, condition_id: int, kind: str) -> Condition:
    """Return a condition of a kind in a campaign. Raises Http404."""
    conditions = campaign.conditions.select_related(*Condition.TOLD_WITH, "campaign", "protocol")
    condition: Condition | None = conditions.filter(pk=condition_id, kind=kind).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def topics_called(campaign: Campaign, qids: Sequence[str]) -> list[Topic]:
    """Return the topics with these ids, by id. Raises ValidationError for one that there isn't."""
    topics = list(campaign.topics.filter(qid__in=qids).order_by(byte_order("qid")))
    _require_all("topic", qids, {topic.qid for topic in topics})
    return topics


def judged_topics(campaign: Campaign, qids: Sequence[str]) -> list[Topic]:
    """Return the topics with these ids, or all, without those for practice, on which nothing counts."""
    topics = topics_called(campaign, qids) if qids else campaign.topics.order_by(byte_order("qid"))
    return [topic for topic in topics if not topic.is_practice]


def runs_called(campaign: Campaign, tags: Sequence[str]) -> list[Run]:
    """Return the runs with these tags. Raises ValidationError for one that there isn't."""
    runs = list(campaign.runs.filter(tag__in=tags))
    _require_all("run", tags, {run.tag for run in runs})
    return runs


def _require_all(what: str, asked: Sequence[str], found: set[str]) -> None:
    if lacking := sorted({*asked} - found):
        raise wrong(what, f"There is no {what} {lacking[0]} in this campaign.")
