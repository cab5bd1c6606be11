from django.urls import path

from assessor.llm.views import jobs, judges

urlpatterns = [
    path("campaigns/<slug:slug>/judges/", judges.judges, name="judges"),
    path("campaigns/<slug:slug>/judges/new/", judges.new_judge, name="new_judge"),
    path("campaigns/<slug:slug>/judges/<int:judge_id>/", judges.judge, name="judge"),
    path("campaigns/<slug:slug>/judges/<int:judge_id>/try/", judges.try_judge, name="try_judge"),
    path("campaigns/<slug:slug>/jobs/", jobs.jobs, name="jobs"),
    path("campaigns/<slug:slug>/jobs/new/", jobs.launch, name="launch_job"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/", jobs.job, name="job"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/failures/", jobs.failures, name="job_failures"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/pause/", jobs.pause, name="pause_job"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/resume/", jobs.resume, name="resume_job"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/cancel/", jobs.cancel, name="cancel_job"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/finish-live/", jobs.finish_live, name="finish_job_live"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/retry/", jobs.retry, name="retry_job"),
    path("campaigns/<slug:slug>/jobs/<int:job_id>/budget/", jobs.budget, name="job_budget"),
]
