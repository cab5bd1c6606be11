"""The collection in Django's admin: people and organizers are kept here, all else is looked at."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from assessor.collection import history
from assessor.collection.actions import add_organizer, remove_organizer
from assessor.collection.models import (
    Answer,
    Campaign,
    Condition,
    Event,
    Grade,
    Import,
    Judge,
    Organizer,
    Person,
    Protocol,
    RankedSegment,
    RetrievalRun,
    Run,
    RunAlias,
    Segment,
    Topic,
)


class LookOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Records that are written by the project's own actions alone, so that each change is in the history."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class _PersonCreationForm(AdminUserCreationForm):  # type: ignore[type-arg]
    class Meta(AdminUserCreationForm.Meta):
        model = Person


class _PersonChangeForm(UserChangeForm):  # type: ignore[type-arg]
    class Meta(UserChangeForm.Meta):
        model = Person


admin.site.unregister(Group)  # the three roles are the project's own


@admin.register(Person)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]
    form = _PersonChangeForm
    add_form = _PersonCreationForm
    list_display = ("username", "first_name", "last_name", "email", "is_active")
    list_filter = ("groups", "is_active")
    actions = None
    add_fieldsets = ((None, {"fields": ("username", "usable_password", "password1", "password2", "groups")}),)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Role", {"fields": ("groups", "is_active"), "description": "assessor, organizer or administrator"}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        # What people did stays theirs; who leaves is made inactive.
        return False

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        person: Person = form.instance
        before = set(person.groups.values_list("name", flat=True))
        super().save_related(request, form, formsets, change)
        after = set(person.groups.values_list("name", flat=True))
        if before != after:
            roles = {"before": sorted(before), "after": sorted(after)}
            history.record("roles changed", person, campaign=None, person=person_of(request), **roles)


@admin.register(Organizer)
class OrganizerAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("campaign", "person", "since", "until")
    list_filter = ("campaign",)
    search_fields = ("person__username", "campaign__name")
    list_select_related = ("campaign", "person")
    fields = ("campaign", "person")
    actions = ("end",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return obj is None

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Organizer, form: Any, change: bool) -> None:
        saved = add_organizer(campaign=obj.campaign, person=obj.person, acting_user=person_of(request))
        obj.pk = saved.pk

    @admin.action(description="End: let these people organize the campaign no longer")
    def end(self, request: HttpRequest, queryset: QuerySet[Organizer]) -> None:
        for organizer in queryset.filter(until__isnull=True):
            remove_organizer(organizer=organizer, acting_user=person_of(request))


def person_of(request: HttpRequest) -> Person:
    """Return who uses the admin."""
    assert isinstance(request.user, Person)
    return request.user


@admin.register(Campaign)
class CampaignAdmin(LookOnly):
    list_display = ("name", "slug", "created_at", "created_by")
    search_fields = ("name", "slug")
    list_select_related = ("created_by",)


@admin.register(Protocol)
class ProtocolAdmin(LookOnly):
    list_display = ("campaign", "name", "version", "created_at", "created_by")
    list_filter = ("campaign",)
    list_select_related = ("campaign", "created_by")


@admin.register(Topic)
class TopicAdmin(LookOnly):
    list_display = ("qid", "title", "campaign")
    list_filter = ("campaign",)
    search_fields = ("qid", "title")
    list_select_related = ("campaign",)


@admin.register(Segment)
class SegmentAdmin(LookOnly):
    list_display = ("docid", "title", "campaign")
    list_filter = ("campaign",)
    search_fields = ("docid",)
    list_select_related = ("campaign",)


@admin.register(Grade)
class GradeAdmin(LookOnly):
    list_display = ("topic", "docid", "grade", "source")
    list_filter = ("source", "grade")
    search_fields = ("docid", "topic__qid")
    list_select_related = ("topic", "source")


@admin.register(Run)
class RunAdmin(LookOnly):
    list_display = ("tag", "team", "task", "type", "priority", "campaign")
    list_filter = ("campaign", "task", "type")
    search_fields = ("tag", "team", "aliases__name")
    list_select_related = ("campaign",)


@admin.register(RunAlias)
class RunAliasAdmin(LookOnly):
    list_display = ("name", "run", "campaign")
    list_filter = ("campaign",)
    search_fields = ("name", "run__tag")
    list_select_related = ("run", "campaign")


@admin.register(Answer)
class AnswerAdmin(LookOnly):
    list_display = ("run", "topic", "form", "words")
    list_filter = ("run__campaign", "form")
    search_fields = ("run__tag", "topic__qid")
    list_select_related = ("run", "topic")


@admin.register(RetrievalRun)
class RetrievalRunAdmin(LookOnly):
    list_display = ("tag", "campaign")
    list_filter = ("campaign",)
    search_fields = ("tag",)
    list_select_related = ("campaign",)


@admin.register(RankedSegment)
class RankedSegmentAdmin(LookOnly):
    list_display = ("run", "topic", "docid", "rank", "score")
    list_filter = ("run",)
    search_fields = ("docid", "topic__qid")
    list_select_related = ("run", "topic")


@admin.register(Judge)
class JudgeAdmin(LookOnly):
    list_display = ("name", "kind")
    list_filter = ("kind",)
    search_fields = ("name",)


@admin.register(Condition)
class ConditionAdmin(LookOnly):
    list_display = ("name", "kind", "method", "campaign", "identity")
    list_filter = ("campaign", "kind", "method")
    search_fields = ("name",)
    list_select_related = ("campaign",)


@admin.register(Import)
class ImportAdmin(LookOnly):
    list_display = ("file_name", "kind", "state", "campaign", "person", "created_at")
    list_filter = ("campaign", "state", "kind")
    search_fields = ("file_name", "sha256")
    list_select_related = ("campaign", "person")


@admin.register(Event)
class EventAdmin(LookOnly):
    list_display = ("at", "verb", "subject", "person", "campaign")
    list_filter = ("campaign", "verb")
    search_fields = ("subject", "person__username")
    list_select_related = ("campaign", "person")
