"""The forms of signing in and of passwords and codes: allauth's, in our words. Wrong passwords count in all of them."""

from typing import Any

from allauth.account import forms as account
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.base import forms as factor
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, TOTP
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.translation import gettext

from assessor.accounts.encryption import decrypt, encrypt
from assessor.accounts.links import site_of
from assessor.accounts.models import Person
from assessor.runtime import hints

_APP_CODE = "The six digits that your app shows now."


def _say(field: forms.Field, label: str, help_text: str = "", **attrs: object) -> None:
    """Give a field of allauth's our words."""
    field.label, field.help_text = label, help_text
    field.widget.attrs.pop("placeholder", None)
    field.widget.attrs |= attrs


class SignInForm(account.LoginForm):
    """Name and password."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = {"username": self.fields["login"], "password": self.fields["password"]}
        _say(self.fields["username"], gettext("Username"), autofocus=True, autocapitalize="none")
        _say(self.fields["password"], gettext("Password"))

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["login"] = self.cleaned_data.get("username", "").strip()
        return super().clean()


class ConfirmForm(account.ReauthenticateForm):
    """The password of who is signed in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say(self.fields["password"], "Your password", autofocus=True)


class _TwiceMixin:
    """A new password, typed twice."""

    fields: dict[str, forms.Field]
    cleaned_data: dict[str, Any]
    add_error: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say(self.fields["password1"], "New password", str(self.fields["password1"].help_text))
        _say(self.fields["password2"], "New password again")

    def clean(self) -> dict[str, Any]:
        first, second = (self.cleaned_data.get(name) for name in ("password1", "password2"))
        if first and second and first != second:
            self.add_error("password2", "The two are not the same.")
        return self.cleaned_data


class PasswordForm(_TwiceMixin, account.ChangePasswordForm):
    """A new password, for who gives the old one. Whoever finds a browser signed in can't try passwords without end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say(self.fields["oldpassword"], "Old password", autofocus=True)

    def clean_oldpassword(self) -> str:
        password = str(self.cleaned_data["oldpassword"])
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("incorrect_password")
        return password


class NewPasswordForm(_TwiceMixin, account.ResetPasswordKeyForm):
    """A new password, for who comes by a one-time link."""


class ForgottenForm(forms.Form):
    """The address to which a link is mailed; by whom it is looked up, nobody can tell whether somebody has it."""

    email = forms.EmailField(label="Your mail address", widget=forms.EmailInput({"autocomplete": "email"}))

    def save(self, request: HttpRequest) -> None:
        hints.send("assessor.accounts.tasks.mail_links", self.cleaned_data["email"], site_of(request))


class MailAddressForm(forms.Form):
    """The address that a person wants; whether somebody else has it, nobody learns here."""

    email = forms.EmailField(
        label="New mail address", widget=forms.EmailInput({"autocomplete": "email", "autofocus": True})
    )

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.confirmed = EmailAddress.objects.get_verified(person)
        if self.confirmed:
            self.fields["email"].help_text = f"Your address now is {self.confirmed}."
        elif person.email:
            self.fields["email"].help_text = f"An administrator entered {person.email}. You have not confirmed it."

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"])
        if self.confirmed and self.confirmed.email == email.lower():
            raise forms.ValidationError("This is your address already.")
        return email


class _CodeMixin:
    """A code, empty when it comes back: a wrong one is not one to go on from.

    allauth takes a code for a minute and a half and forgets after half a minute that it was used.
    """

    fields: dict[str, forms.Field]
    user: Person
    code_help = f"{_APP_CODE[:-1]}, or one of your recovery codes."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget = _CodeInput({"autocomplete": "one-time-code", "autofocus": True})
        _say(self.fields["code"], "Code", self.code_help)

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        cache.set(_used(self.user)._get_used_cache_key(code), "y", settings.MFA_TOTP_TOLERANCE * 60 + 30)
        return code


def _used(person: Person) -> TOTP:
    return TOTP(Authenticator(user_id=person.pk))


class _CodeInput(forms.TextInput):
    def format_value(self, value: object) -> None:
        return None


class CodeForm(_CodeMixin, factor.AuthenticateForm):
    """The second step of signing in."""


class ConfirmCodeForm(_CodeMixin, factor.ReauthenticateForm):
    """A code of who is signed in."""


class SetUpForm(_CodeMixin, totp.ActivateTOTPForm):
    """The first code of an app. Its secret waits in the session, encrypted too."""

    code_help = _APP_CODE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        session = context.request.session
        kept = decrypt(session[SECRET_SESSION_KEY]) if self.is_bound else None
        if kept:
            self.secret = kept
        else:
            session[SECRET_SESSION_KEY] = encrypt(self.secret)
