"""The only way to a judge or a job, through a campaign that one organizes."""

from django.http import Http404

from assessor.campaigns.models import Campaign
from assessor.llm.models import Job, ModelJudge


def campaign_judge(campaign: Campaign, judge_id: int) -> ModelJudge:
    """Return a judge of a campaign that was reached through organized_campaign. Raises Http404."""
    judge = campaign.model_judges.select_related("judge", "campaign").filter(pk=judge_id).first()
    if judge is None:
        raise Http404("There is no such judge in this campaign.")
    return judge


def campaign_job(campaign: Campaign, job_id: int) -> Job:
    """Return a job of a campaign that was reached through organized_campaign. Raises Http404."""
    jobs = campaign.jobs.select_related(
        "judge__judge", "condition__nuggets", "condition__qrels_source", "condition__judge", "campaign", "created_by"
    )
    job = jobs.filter(pk=job_id).first()
    if job is None:
        raise Http404("There is no such job in this campaign.")
    return job
