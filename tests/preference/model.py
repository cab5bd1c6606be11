"""What a model says of pairs, as its job stores it, without asking anybody."""

from typing import Any

from assessor.campaigns.models import Campaign
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.preference.actions import Verdicts, store_verdicts
from assessor.preference.models import PreferencePair


def compare(campaign: Campaign, judge: ModelJudge, verdict: str = "1", **options: Any) -> Job:
    """Launch a job that compares all answers, and store the same verdict of all pairs in both orders."""
    topics = list(campaign.topics.order_by("qid"))
    options = {"name": "", "qrels_source": None} | options
    plan = plan_job(kind=job_kind_named("PrefJudge"), judge=judge, topics=topics, **options)
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    open_ones = PreferencePair.objects.filter(condition=job.condition, state="open")
    store_verdicts(job, [Verdicts(pk, verdict, verdict) for pk in open_ones.values_list("pk", flat=True)])
    return job
