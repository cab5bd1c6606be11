"""Single sign-on's pages. Loading this takes requests and oauthlib, so the addresses load it when it is asked for."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.ratelimit import consume_or_429
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.utils import build_absolute_uri
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from assessor.accounts import actions, single_sign_on
from assessor.campaigns.http import PersonRequest


class _Adapter(OpenIDConnectOAuth2Adapter):
    """allauth's, with one address to which the provider sends people back, whatever the provider."""

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return build_absolute_uri(request, reverse("sign_on_callback"), self.redirect_uri_protocol)


class _Provider(OpenIDConnectProvider):
    oauth2_adapter_class = _Adapter


registry.register(_Provider)


def begin(request: HttpRequest, process: str, link: dict[str, Any] | None = None) -> HttpResponse:
    """Send somebody to the provider. A page does, as the strict policy lets no form lead to another site."""
    if not single_sign_on.is_on():
        raise Http404
    # Each beginning is kept in a session, and may ask the provider.
    if too_many := consume_or_429(request, app="allauth.account", action="login"):
        return too_many
    provider = get_adapter().get_provider(request, settings.SSO_ISSUER)
    try:
        response = provider.redirect(request, process, next_url=get_next_redirect_url(request), data=link)
    except (RequestException, KeyError):  # it can't be reached, or does not say where to go
        response = None
    if not isinstance(response, HttpResponseRedirect):
        return render(request, "accounts/sign_on_failed.html", {"name": settings.SSO_NAME}, status=503)
    return render(request, "accounts/sign_on.html", {"name": settings.SSO_NAME, "address": response.url})


@require_POST
def sign_on(request: HttpRequest) -> HttpResponse:
    """Begin signing in at the provider."""
    return begin(request, "login")


@require_POST
@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator]
def link(request: PersonRequest) -> HttpResponse:
    """Begin linking the account at the provider to who is signed in."""
    return begin(request, "connect")


@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Take somebody back from the provider."""
    if not single_sign_on.is_on():
        raise Http404
    view = OAuth2CallbackView.adapter_view(_Adapter(request, settings.SSO_ISSUER))
    return view(request)


@require_POST
@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator]
def unlink(request: PersonRequest, account_id: int) -> HttpResponse:
    """Unlink an account at a provider."""
    account = get_object_or_404(SocialAccount, pk=account_id, user=request.user)
    request.session.cycle_key()
    session = request.session.session_key
    if actions.unlink_account(account=account, acting_user=request.user, session_key=session):
        messages.success(request, "The account is unlinked. Other browsers are signed out.")
    else:
        messages.error(request, "It is your only way in. Have an administrator make you a link first.")
    return redirect("mfa_index")
