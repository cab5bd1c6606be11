"""Second factors and linked accounts in Django's admin. allauth's own pages there could change secrets."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from assessor.accounts.actions import remove_second_factor, unlink_account
from assessor.campaigns.admin import LookOnly, person_of

admin.site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken])


@admin.register(Authenticator)
class AuthenticatorAdmin(LookOnly):
    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    search_fields = ("user__username",)
    list_select_related = ("user",)
    fields = ("user", "type", "created_at", "last_used_at")
    actions = ("reset",)

    @admin.action(description="Reset: ask for the password alone until it is set up anew", permissions=["view"])
    def reset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for person in {authenticator.user for authenticator in queryset.select_related("user")}:
            remove_second_factor(person=person, acting_user=person_of(request))
            self.message_user(request, f"Reset: {person} signs in by password alone.", messages.WARNING)


@admin.register(SocialAccount)
class LinkedAccountAdmin(LookOnly):
    list_display = ("user", "provider", "uid", "date_joined", "last_login")
    search_fields = ("user__username", "uid")
    list_select_related = ("user",)
    fields = ("user", "provider", "uid", "date_joined", "last_login")
    actions = ("unlink",)

    @admin.action(description="Unlink: let these accounts sign nobody in", permissions=["view"])
    def unlink(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for account in queryset.select_related("user"):
            unlink_account(account=account, acting_user=person_of(request))
            self.message_user(request, f"Unlinked: {account.user}'s account {account.uid}.", messages.WARNING)
