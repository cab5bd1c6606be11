"""The automatic side in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.llm.models import (
    Batch,
    BatchRequest,
    Call,
    CampaignPromptSet,
    Job,
    ModelJudge,
    Runner,
    StoredPrompt,
    Trial,
    Unit,
)


@admin.register(ModelJudge)
class ModelJudgeAdmin(LookOnly):
    list_display = ("judge", "campaign", "base_url", "prompt_set", "concurrency")
    list_filter = ("campaign",)
    search_fields = ("judge__name", "base_url")
    list_select_related = ("judge", "campaign")


@admin.register(StoredPrompt)
class StoredPromptAdmin(LookOnly):
    list_display = ("sha256", "at")
    search_fields = ("sha256", "text")


@admin.register(CampaignPromptSet)
class CampaignPromptSetAdmin(LookOnly):
    list_display = ("name", "campaign", "created_at", "created_by")
    list_filter = ("campaign",)
    search_fields = ("name",)
    list_select_related = ("campaign", "created_by")


@admin.register(Job)
class JobAdmin(LookOnly):
    list_display = ("pk", "kind", "condition", "judge", "state", "units_done", "units_failed", "units_total", "cost")
    list_filter = ("campaign", "kind", "state")
    search_fields = ("condition__name", "kind", "judge__judge__name")
    list_select_related = ("condition", "judge__judge", "campaign")


@admin.register(Unit)
class UnitAdmin(LookOnly):
    list_display = ("topic", "answer_id", "item", "job", "state", "attempts", "round", "error")
    list_filter = ("state",)
    search_fields = ("topic__qid", "item")
    list_select_related = ("topic", "job__condition")


@admin.register(Runner)
class RunnerAdmin(LookOnly):
    list_display = ("owner", "job", "seats", "started_at", "alive_at")
    search_fields = ("owner",)
    list_select_related = ("job__condition",)


@admin.register(Call)
class CallAdmin(LookOnly):
    list_display = ("at", "question", "outcome", "judge", "unit", "model", "tokens_in", "tokens_out", "cost")
    list_filter = ("outcome", "question")
    search_fields = ("request", "unit__topic__qid")
    list_select_related = ("judge__judge", "unit__topic")


@admin.register(Batch)
class BatchAdmin(LookOnly):
    list_display = ("uid", "job", "status", "requests_answered", "requests_total", "sent_at", "ended_at", "message")
    list_filter = ("status",)
    search_fields = ("uid", "remote_id")
    list_select_related = ("job__condition",)


@admin.register(BatchRequest)
class BatchRequestAdmin(LookOnly):
    list_display = ("request", "question", "unit", "job", "batch", "status", "tries")
    search_fields = ("request", "unit__topic__qid")
    list_select_related = ("unit__topic", "job__condition", "batch")


@admin.register(Trial)
class TrialAdmin(LookOnly):
    list_display = ("judge", "created_at", "created_by", "begun_at", "place", "answer", "problem")
    search_fields = ("judge__judge__name",)
    list_select_related = ("judge__judge", "created_by")
