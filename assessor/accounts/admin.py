"""Second factors in Django's admin: who has one, and resetting it for who lost theirs."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from assessor.accounts.actions import remove_second_factor
from assessor.accounts.models import SecondFactor
from assessor.campaigns.admin import LookOnly, person_of


@admin.register(SecondFactor)
class SecondFactorAdmin(LookOnly):
    list_display = ("person", "since")
    search_fields = ("person__username",)
    list_select_related = ("person",)
    fields = ("person", "since")
    actions = ("reset",)

    @admin.action(description="Reset: ask for the password alone until it is set up anew", permissions=["view"])
    def reset(self, request: HttpRequest, queryset: QuerySet[SecondFactor]) -> None:
        for factor in queryset.select_related("person"):
            remove_second_factor(person=factor.person, acting_user=person_of(request))
            self.message_user(request, f"Reset: {factor.person} signs in by password alone.", messages.WARNING)
