"""What sentences state in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from nuggets.candidates.models import SentenceMatch


@admin.register(SentenceMatch)
class SentenceMatchAdmin(LookOnly):
    list_display = ("condition", "edition", "answer", "sentence", "nugget", "job", "at")
    list_filter = ("condition__campaign",)
    search_fields = ("answer__topic__qid", "answer__run__tag", "nugget__text")
    list_select_related = (
        *("condition", "edition__bank__topic", "edition__bank__condition"),
        *("answer__run", "answer__topic", "nugget", "job__condition"),
    )
