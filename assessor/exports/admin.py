"""Exports and frozen conditions in Django's admin, to look at."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from assessor.campaigns.admin import LookOnly
from assessor.exports.models import Blob, Chunk, Export, Frozen, FrozenFile, Pseudonym


@admin.register(Export)
class ExportAdmin(LookOnly):
    list_display = ("file_name", "kind", "state", "campaign", "person", "created_at", "size")
    list_filter = ("campaign", "kind", "state", "at_once")
    search_fields = ("file_name", "sha256", "person__username")
    list_select_related = ("campaign", "person")


@admin.register(Frozen)
class FrozenAdmin(LookOnly):
    list_display = ("condition", "version", "at", "person", "public_key")
    list_filter = ("condition__campaign", "condition")
    search_fields = ("condition__name", "public_key")
    list_select_related = ("condition", "person")


@admin.register(FrozenFile)
class FrozenFileAdmin(LookOnly):
    list_display = ("name", "frozen", "kind", "form", "blob")
    list_filter = ("kind",)
    search_fields = ("name", "blob__sha256")
    list_select_related = ("frozen__condition", "blob")


@admin.register(Blob)
class BlobAdmin(LookOnly):
    list_display = ("sha256", "size")
    search_fields = ("sha256",)


@admin.register(Chunk)
class ChunkAdmin(LookOnly):
    list_display = ("blob", "place")
    search_fields = ("blob__sha256",)
    list_select_related = ("blob",)
    exclude = ("data",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        """Leave out the bytes, which nobody reads here."""
        return super().get_queryset(request).defer("data")


@admin.register(Pseudonym)
class PseudonymAdmin(LookOnly):
    list_display = ("campaign", "number", "person")
    list_filter = ("campaign",)
    search_fields = ("person__username",)
    list_select_related = ("campaign", "person")
