"""The provider by which people may sign in (OpenID Connect), where the settings name one; what it says of factors."""

from typing import Any

from django.conf import settings

# Values of `amr` (RFC 8176) by kind of factor: what somebody knows, has, is. Messages and calls (sms, tel) are left
# out, since NIST restricts them (SP 800-63B), and so is what says nothing of a factor (geo, rba, user, ...).
_KINDS = (
    {"pwd", "pin"},
    {"otp", "hwk", "swk", "sc"},
    {"face", "fpt", "iris", "retina", "vbm"},
)


def is_on() -> bool:
    return bool(settings.SSO_ISSUER)


def provider_name() -> str:
    """Return what people call the provider, "" where there is none."""
    return settings.SSO_NAME if is_on() else ""


def is_trusted(issuer: str) -> bool:
    """Say whether what a provider says of factors counts: it is the one in use, and the administrator believes it."""
    return settings.SSO_TRUSTS_AMR and issuer == settings.SSO_ISSUER


def names_several_factors(claims: dict[str, Any]) -> bool:
    """Say whether a sign-in at the provider took several factors, as it says.

    claims: what an account there keeps of the sign-in. It must name mfa, or methods of two kinds.
    """
    methods = (claims.get("id_token") or {}).get("amr")
    if not isinstance(methods, list):
        return False
    named = {method for method in methods if isinstance(method, str)}
    return "mfa" in named or sum(bool(kind & named) for kind in _KINDS) > 1
