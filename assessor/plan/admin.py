"""What is planned in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.plan.models import Planned


@admin.register(Planned)
class PlannedAdmin(LookOnly):
    list_display = ("topic", "condition", "person", "waits_for", "created_by", "created_at")
    list_filter = ("condition__campaign", "condition__kind")
    search_fields = ("topic__qid", "condition__name", "person__username")
    list_select_related = ("topic", "condition", "person", "created_by")
