"""The collection in Django's admin: people and their roles are kept here, all else is looked at."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin, messages
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from assessor.accounts.deactivation import end_link
from assessor.accounts.models import Person
from assessor.accounts.person_admin import LinkMaker
from assessor.admin import RecordAdmin
from assessor.campaigns import exports, history
from assessor.campaigns.actions import add_member, delete_person, end_membership, note_activity, why_kept
from assessor.campaigns.http import download
from assessor.campaigns.models import (
    Answer,
    Campaign,
    Condition,
    Event,
    Grade,
    Import,
    Invitation,
    Judge,
    Membership,
    Protocol,
    RankedSegment,
    RetrievalRun,
    Role,
    RunAlias,
    RunDocument,
    Segment,
    Topic,
)


class LookOnly(RecordAdmin):
    """Records that are written by the project's own actions alone, so that each change is in the history."""

    show_facets = admin.ShowFacets.NEVER  # they count every record once for each choice of each filter

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def person_of(request: HttpRequest) -> Person:
    """Return who uses the admin."""
    assert isinstance(request.user, Person)
    return request.user


def the_one(model_admin: LookOnly, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
    """Return the only selected record, or None after saying that a file holds one."""
    if queryset.count() == 1:
        return queryset.get()
    model_admin.message_user(request, "Choose one: each has a file of its own.", messages.ERROR)
    return None


def export(request: HttpRequest, campaign: Campaign | None, name: str, lines: Iterator[str]) -> HttpResponseBase:
    """Stream what was selected of a list, and note in the history who took it."""
    history.record("exported", name, campaign=campaign, person=person_of(request))
    return download(f"{campaign.slug}.{name}" if campaign else name, lines)


_LABELS = {"is_superuser": "Administrator"}
_HELP = {"is_superuser": "Sees every record here, so is no assessor. Roles in a campaign are given on its page People."}


class _PersonCreationForm(AdminUserCreationForm):  # type: ignore[type-arg]
    class Meta(AdminUserCreationForm.Meta):
        model = Person
        labels, help_texts = _LABELS, _HELP


class _PersonChangeForm(UserChangeForm):  # type: ignore[type-arg]
    class Meta(UserChangeForm.Meta):
        model = Person
        labels, help_texts = _LABELS, _HELP


admin.site.unregister(Group)  # roles are in campaigns


@admin.register(Person)
class PersonAdmin(LinkMaker):
    form = _PersonChangeForm
    add_form = _PersonCreationForm
    list_display = ("username", "first_name", "last_name", "email", "is_administrator", "is_active")
    list_filter = ("is_superuser", "is_active", "memberships__campaign")
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    delete_confirmation_template = "admin/delete_person.html"
    delete_selected_confirmation_template = "admin/delete_people.html"
    add_fieldsets = ((None, {"fields": ("username", "usable_password", "password1", "password2", "is_superuser")}),)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Access", {"fields": ("is_superuser", "is_active")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )

    @admin.display(boolean=True, description="administrator", ordering="is_superuser")
    def is_administrator(self, person: Person) -> bool:
        return person.is_superuser

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Say what would be deleted with people; whoever has left a trace is protected, and deletes nobody else."""
        kept = [reason for person in objs if (reason := why_kept(person, person_of(request)))]
        to_delete, counts, perms_needed, _ = super().get_deleted_objects([] if kept else objs, request)
        return to_delete, counts, perms_needed, kept

    def delete_model(self, request: HttpRequest, obj: Person) -> None:
        delete_person(person=obj, acting_user=person_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Person]) -> None:
        with transaction.atomic():
            for person in queryset:
                delete_person(person=person, acting_user=person_of(request))

    def save_model(self, request: HttpRequest, obj: Person, form: Any, change: bool) -> None:
        with transaction.atomic():
            if change and "is_superuser" in form.changed_data and not obj.is_superuser:
                obj.administrator_until = timezone.now()
            super().save_model(request, obj, form, change)
            if not change:
                history.record("account made", obj, campaign=None, person=person_of(request))
            elif fields := sorted({"username", "email", "first_name", "last_name"}.intersection(form.changed_data)):
                history.record("person changed", obj, campaign=None, person=person_of(request), fields=fields)
            if "email" in form.changed_data:
                EmailAddress.objects.filter(user=obj).delete()  # what the person confirmed is their address no longer
            if change and "is_active" in form.changed_data:
                note_activity(person=obj, acting_user=person_of(request))
            if "is_superuser" in form.changed_data:
                end_link(obj)
                verb = "administrator added" if obj.is_superuser else "administrator removed"
                history.record(verb, obj, campaign=None, person=person_of(request))

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        response = super().user_change_password(request, id, form_url)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            history.record("password set", Person.objects.get(pk=id), campaign=None, person=person_of(request))
        return response


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("campaign", "person", "role", "since", "until")
    list_filter = ("campaign", "role")
    search_fields = ("person__username", "campaign__name")
    list_select_related = ("campaign", "person")
    fields = ("campaign", "person", "role")
    actions = ("end",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return obj is None

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        saved = add_member(
            campaign=obj.campaign, person=obj.person, role=Role(obj.role), acting_user=person_of(request)
        )
        obj.pk = saved.pk

    @admin.action(description="End: these people have the role in the campaign no longer")
    def end(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for membership in queryset.filter(until__isnull=True):
            end_membership(membership=membership, acting_user=person_of(request))


@admin.register(Invitation)
class InvitationAdmin(LookOnly):
    list_display = ("campaign", "person", "role", "invited_at", "invited_by")
    list_filter = ("campaign", "role")
    search_fields = ("person__username", "campaign__name")
    list_select_related = ("campaign", "person", "invited_by")


@admin.register(Protocol)
class ProtocolAdmin(LookOnly):
    list_display = ("campaign", "name", "version", "created_at", "created_by")
    list_filter = ("campaign",)
    search_fields = ("name", "campaign__name")
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


@admin.register(RunDocument)
class RunDocumentAdmin(LookOnly):
    list_display = ("docid", "run")
    list_filter = ("run__campaign",)
    search_fields = ("docid", "run__tag")
    list_select_related = ("run",)


@admin.register(Grade)
class GradeAdmin(LookOnly):
    list_display = ("topic", "docid", "grade", "source")
    list_filter = ("source", "grade")
    search_fields = ("docid", "topic__qid")
    list_select_related = ("topic", "source")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Grade]:
        return Grade.with_unjudged.all()


@admin.register(RunAlias)
class RunAliasAdmin(LookOnly):
    list_display = ("name", "run", "campaign")
    list_filter = ("campaign",)
    search_fields = ("name", "run__tag")
    list_select_related = ("run", "campaign")


@admin.register(Answer)
class AnswerAdmin(LookOnly):
    list_display = ("run", "topic", "form", "words", "apart")
    list_filter = ("run__campaign", "form", "apart")
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
    list_display = ("run", "topic", "rank", "docid", "score")
    list_filter = ("run__campaign",)
    search_fields = ("docid", "topic__qid", "run__tag")
    list_select_related = ("run", "topic")


@admin.register(Judge)
class JudgeAdmin(LookOnly):
    list_display = ("name", "kind")
    list_filter = ("kind",)
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Judge]:
        """Leave out what an unfinished import brought."""
        named = Condition.objects.filter(judge=OuterRef("pk"))
        return super().get_queryset(request).filter(~Q(kind=Judge.Kind.IMPORTED) | Exists(named))


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
    search_fields = ("subject", "verb", "person__username")
    list_select_related = ("campaign", "person")
    actions = ("export_events",)

    @admin.action(description="Export the selected events (CSV)", permissions=["view"])
    def export_events(self, request: HttpRequest, queryset: QuerySet[Event]) -> HttpResponseBase:
        return export(request, None, "history.csv", exports.event_lines(queryset))
