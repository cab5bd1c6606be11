from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "nuggets.reports"
    condition_kind = "nuggets.reports.condition_kind.REPORTS"
    job_kinds = ("nuggets.reports.report_job.ReportJob",)
