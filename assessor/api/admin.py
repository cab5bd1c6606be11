"""Tokens in Django's admin, to look at."""

from django.contrib import admin

from assessor.api.models import Token
from assessor.campaigns.admin import LookOnly


@admin.register(Token)
class TokenAdmin(LookOnly):
    list_display = ("name", "prefix", "person", "may", "created_at", "expires_at", "used_at", "revoked_at")
    list_filter = (
        "may",
        ("person", admin.RelatedOnlyFieldListFilter),
    )
    search_fields = ("name", "prefix", "person__username")
    list_select_related = ("person",)
    exclude = ("sha256",)
