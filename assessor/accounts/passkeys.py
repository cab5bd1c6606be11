"""The pages of codes and passkeys. A passkey (WebAuthn) asks for finger, face or PIN itself, and so is both factors.

Loading this takes 11 MiB, so the addresses load it when somebody asks for one of these pages.
"""

from typing import Any

from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress, Login
from allauth.account.stages import LoginStageController
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.ratelimit import consume_or_429
from allauth.mfa.base.views import AuthenticateView, IndexView, ReauthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn import forms as webauthn
from allauth.mfa.webauthn.internal import auth, flows
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    EditWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator

from assessor.accounts import single_sign_on
from assessor.accounts.stages import CodeStage

WRONG_PASSKEY = "This passkey was not taken. Try again, or take another one."


class _CredentialMixin:
    """What a browser's passkey says; errors in our words."""

    def clean_credential(self) -> Authenticator:
        try:
            return super().clean_credential()  # type: ignore[misc]
        except forms.ValidationError as error:
            if error.code == "incorrect_code":
                raise forms.ValidationError(WRONG_PASSKEY) from error
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # nothing that a browser makes
            raise forms.ValidationError(WRONG_PASSKEY) from error


class SignInForm(_CredentialMixin, webauthn.LoginWebAuthnForm):
    pass


class UseForm(_CredentialMixin, webauthn.AuthenticateWebAuthnForm):
    pass


class ConfirmForm(_CredentialMixin, webauthn.ReauthenticateWebAuthnForm):
    pass


class _NameMixin:
    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields["name"] = forms.CharField(label="Name of the passkey", max_length=60, required=False)
        name.help_text = "By which you know it again, such as the device that it is on."


class AddForm(_NameMixin, webauthn.SignupWebAuthnForm):
    """A new passkey. Each can sign in by itself: allauth's form of that kind is the one of signing up."""

    def clean(self) -> dict[str, Any]:
        try:
            cleaned: dict[str, Any] = super().clean()
        except forms.ValidationError:
            raise forms.ValidationError(WRONG_PASSKEY) from None
        return cleaned


class RenameForm(_NameMixin, webauthn.EditWebAuthnForm):
    def clean_name(self) -> str:
        return self.cleaned_data["name"] or self.instance.wrap().name


class PasskeySignIn(LoginWebAuthnView):
    """Signing in by a passkey alone: a challenge, and what the passkey makes of it."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Each challenge is kept in a session, so that nobody may ask for them without end.
        too_many = consume_or_429(request, app="allauth.mfa", action="webauthn_login", limit_get=True)
        return too_many or JsonResponse({"request_options": auth.begin_authentication(user=None)})

    def form_valid(self, form: forms.Form) -> HttpResponse:
        authenticator = form.cleaned_data["credential"]
        login = Login(user=authenticator.user, redirect_url=get_next_redirect_url(self.request))
        return flows.perform_passwordless_login(self.request, authenticator, login)

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        messages.error(self.request, WRONG_PASSKEY)
        return redirect("account_login")


@method_decorator(login_not_required, name="dispatch")
class Code(AuthenticateView):
    """The second step of signing in; it starts over where what the first one took is good no longer."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        stage = LoginStageController.enter(request, CodeStage.key)
        if stage and not stage.is_good():
            clear_login(request)
            return redirect("account_login")
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        types = set(self.stage.login.user.authenticator_set.values_list("type", flat=True))
        return super().get_context_data(**kwargs) | {"has_passkey": "webauthn" in types, "has_app": "totp" in types}


class ConfirmByPasskey(ReauthenticateWebAuthnView):
    def form_invalid(self, form: forms.Form) -> HttpResponse:
        messages.error(self.request, " ".join(map(str, form.errors.get("credential", [WRONG_PASSKEY]))))
        return redirect(self.request.get_full_path())


class Security(IndexView):
    """A person's password, mail address, second factors, passkeys and linked accounts."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        accounts = self.request.user.socialaccount_set.all()
        linked = {
            "accounts": [(account, account.provider == settings.SSO_ISSUER) for account in accounts],
            "provider": single_sign_on.provider_name(),
            "mails": settings.MAILS,
            "confirmed": EmailAddress.objects.get_verified(self.request.user),
        }
        return super().get_context_data(**kwargs) | linked


class AddPasskey(AddWebAuthnView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Ask for a passkey that can sign in by itself, which allauth leaves to a tick box."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context["js_data"] = {"creation_options": auth.begin_registration(self.request.user, True)}
        return context


security = Security.as_view()
code = Code.as_view()
passkey_sign_in = PasskeySignIn.as_view()
confirm_by_code = ReauthenticateView.as_view(template_name="account/reauthenticate.html")
confirm_by_passkey = ConfirmByPasskey.as_view()
set_app_up = ActivateTOTPView.as_view()
turn_app_off = DeactivateTOTPView.as_view()
recovery_codes = ViewRecoveryCodesView.as_view()
renew_recovery_codes = GenerateRecoveryCodesView.as_view()
add_passkey = AddPasskey.as_view()
rename_passkey = EditWebAuthnView.as_view(
    template_name="desk/form.html",
    extra_context={"title": "Rename a passkey", "submit": "Rename", "back": reverse_lazy("mfa_index")},
    success_url=reverse_lazy("mfa_index"),
)
remove_passkey = RemoveWebAuthnView.as_view(success_url=reverse_lazy("mfa_index"))
