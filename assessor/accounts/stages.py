"""The step of signing in after the password: a code, or a passkey."""

from typing import Any

from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.account.stages import LoginStage
from allauth.mfa.utils import is_mfa_enabled
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from assessor.accounts.access import SECOND_FACTORS
from assessor.accounts.single_sign_on import is_trusted, names_several_factors


class CodeStage(LoginStage):
    """Asks who has a second factor for it, but after a passkey, or after a trusted provider that asked for one.

    allauth's own stage does the same, and loads 11 MiB of passkeys at each sign-in by password.
    """

    key = "mfa_authenticate"  # allauth's page of the code asks for this stage
    urlname = "mfa_authenticate"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        person = self.login.user
        # In this order: it also notes what the provider asked for, which whoever owes a second factor needs.
        if self._gave_both() or not is_mfa_enabled(person, SECOND_FACTORS):
            return None, True
        self.state["hash"] = person.get_session_auth_hash()
        return redirect(self.urlname), True

    def is_good(self) -> bool:
        """Say whether the password that was given is still the person's, and they are active."""
        person = self.login.user
        return person is not None and person.is_active and person.get_session_auth_hash() == self.state.get("hash")

    def _gave_both(self) -> bool:
        sociallogin = (self.login.signal_kwargs or {}).get("sociallogin")
        account = sociallogin.account if sociallogin else None
        if account and is_trusted(account.provider) and names_several_factors(account.extra_data):
            record_authentication(self.request, self.login.user, "socialaccount", several_factors=account.provider)
            return True
        return any(record.get("passwordless") for record in get_authentication_records(self.request, self.login.user))


def trusted_provider(request: HttpRequest, person: Any) -> str | None:
    """Return the provider that asked a person for a second factor when this session began, and was trusted to, if any.

    Whether it still is, single_sign_on.is_trusted() says.
    """
    records = get_authentication_records(request, person)
    return next((record["several_factors"] for record in records if record.get("several_factors")), None)
