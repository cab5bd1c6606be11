"""References of practice in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.training.models import Reference


@admin.register(Reference)
class ReferenceAdmin(LookOnly):
    list_display = ("condition", "reference", "grades", "person", "at")
    list_filter = ("condition__campaign", "condition__kind")
    search_fields = ("condition__name", "reference__name", "grades__name")
    list_select_related = ("condition", "reference", "grades", "person")
