"""Who owes a second factor sets it up before anything else."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth import logout
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from assessor.accounts.single_sign_on import is_trusted
from assessor.accounts.stages import trusted_provider
from assessor.campaigns.http import asks_for_page

_OPEN = {
    *("account_login", "account_logout", "account_change_password", "account_reset_password_from_key"),
    *("mfa_authenticate", "account_reauthenticate", "mfa_reauthenticate", "mfa_index"),
    *("mfa_activate_totp", "mfa_add_webauthn", "mfa_view_recovery_codes"),
}


class SecondFactorFirst:
    """Leads people of a campaign that requires a second factor to where they set theirs up; refuses all else.

    All of Assay, not the campaign alone: one sign-in opens all that somebody can open. Where a trusted provider asked
    for a second factor, that will do for the session, which ends when the provider is trusted no longer.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        provider = trusted_provider(request, request.user)
        if provider and not is_trusted(provider):  # no longer: the settings were changed since
            logout(request)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponseBase | None:
        if not getattr(request.user, "owes_second_factor", False):
            return None
        if trusted_provider(request, request.user):
            request.user.owes_second_factor = False  # type: ignore[union-attr]
            return None
        if request.resolver_match and request.resolver_match.view_name in _OPEN:
            return None
        if asks_for_page(request):
            return redirect("mfa_index")
        raise PermissionDenied("A campaign of yours requires a second factor. Set yours up first: open the home page.")
