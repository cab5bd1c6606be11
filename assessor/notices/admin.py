"""Webhooks and deliveries in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.notices.models import Delivery, Webhook


@admin.register(Webhook)
class WebhookAdmin(LookOnly):
    list_display = ("__str__", "campaign", "state", "created_at", "created_by")
    list_filter = ("campaign", "state")
    search_fields = ("address",)
    list_select_related = ("campaign", "created_by")
    exclude = ("salt",)


@admin.register(Delivery)
class DeliveryAdmin(LookOnly):
    list_display = ("event", "webhook", "person", "state", "created_at", "attempts", "status", "error")
    list_filter = ("state", "event", "webhook__campaign")
    search_fields = ("uid",)
    list_select_related = ("webhook", "person")
