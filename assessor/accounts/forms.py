"""The forms of signing in. The password is asked again, through the same throttle, before anything of it changes."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest

from assessor.accounts.models import Person

_WRONG_PASSWORD = "This is not your password."  # noqa: S105  # a message


def _is_password(request: HttpRequest, person: Person, password: str) -> bool:
    return authenticate(request, username=person.username, password=password) == person


class _CodeInput(forms.TextInput):
    """A field for a code, empty when it comes back: a wrong code is not one to go on from."""

    def __init__(self, **attrs: object) -> None:
        super().__init__({"autocomplete": "one-time-code", **attrs})

    def format_value(self, value: object) -> None:
        return None


class CodeForm(forms.Form):
    """A code, of the app or for recovery."""

    code = forms.CharField(
        max_length=60,
        help_text="The six digits that your app shows now, or one of your recovery codes.",
        widget=_CodeInput(autofocus=True),
    )


class ConfirmForm(forms.Form):
    """The password of who is signed in, and a code."""

    password = forms.CharField(
        label="Your password", widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    code = forms.CharField(
        max_length=60,
        label="Code",
        help_text="The six digits that your app shows now.",
        widget=_CodeInput(),
    )

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        assert isinstance(self.request.user, Person)
        if not _is_password(self.request, self.request.user, password):
            raise forms.ValidationError(_WRONG_PASSWORD)
        return password


class ThrottledPasswordChangeForm(PasswordChangeForm):
    """Whoever finds a browser signed in can't try passwords here without end."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        password = str(self.cleaned_data["old_password"])
        if not _is_password(self.request, self.user, password):
            raise forms.ValidationError(_WRONG_PASSWORD)
        return password
