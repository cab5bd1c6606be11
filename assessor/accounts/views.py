"""Signing in in two steps, and one's second factor."""

import time
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from assessor.accounts import actions, codes
from assessor.accounts.access import PasswordBackend, second_factor_of
from assessor.accounts.forms import CodeForm, ConfirmForm, ThrottledPasswordChangeForm
from assessor.accounts.models import Person
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest

_BACKEND = f"{PasswordBackend.__module__}.{PasswordBackend.__qualname__}"
_PASSED = "password_passed"  # in a session: who gave their password and still has to give a code
_NEW_SECRET = "new_second_factor"  # noqa: S105  # in a session: the secret that is being set up, sealed
_MINUTES = 5  # for giving the code


class SignIn(auth.LoginView):
    """Asks for name and password; who has a second factor is signed in by a code only."""

    template_name = "accounts/login.html"

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        person = form.get_user()
        assert isinstance(person, Person)
        if second_factor_of(person) is None:
            return super().form_valid(form)
        self.request.session.cycle_key()
        until = time.time() + 60 * _MINUTES
        self.request.session[_PASSED] = {
            "person": person.pk,
            "hash": person.get_session_auth_hash(),
            "until": until,
            "next": self.get_success_url(),
        }
        return redirect("sign_in_code")


@login_not_required
@csrf_protect
@require_http_methods(["GET", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code; signed in is only who gave the password a moment ago and gives a good one."""
    passed: dict[str, Any] = request.session.get(_PASSED) or {}
    person = PasswordBackend().get_user(passed["person"]) if passed.get("until", 0) > time.time() else None
    if person is None or passed["hash"] != person.get_session_auth_hash():
        request.session.pop(_PASSED, None)
        return redirect("login")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if reason := actions.why_refused(person, form.cleaned_data["code"]):
            form.add_error("code", reason)
        else:
            login(request, person, backend=_BACKEND)
            request.session.pop(_PASSED, None)
            return HttpResponseRedirect(passed["next"])
    return render(request, "accounts/code.html", {"form": form})


class PasswordChange(auth.PasswordChangeView):
    """A new password, for who gives the old one; it ends the person's other sessions."""

    template_name = "accounts/password.html"
    form_class = ThrottledPasswordChangeForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}


@require_http_methods(["GET", "POST"])
def second_factor(request: PersonRequest) -> HttpResponse:
    """A person's second factor: setting it up, or how it stands."""
    factor = second_factor_of(request.user)
    if factor is not None:
        form = ConfirmForm(request)
        return render(request, "accounts/second_factor.html", {"factor": factor, "form": form})
    secret = codes.unseal(request.session.get(_NEW_SECRET, ""))
    if secret is None:
        secret = codes.new_secret()
        request.session[_NEW_SECRET] = codes.seal(secret)
    form = ConfirmForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        code = form.cleaned_data["code"].replace(" ", "")
        recovery = actions.set_up(
            person=request.user, secret=secret, code=code, session_key=request.session.session_key
        )
        if recovery is not None:
            del request.session[_NEW_SECRET]
            request.session.cycle_key()
            return render(request, "accounts/recovery_codes.html", {"recovery": recovery, "is_new": True})
        form.add_error("code", actions.WRONG)
    name = f"{request.user.username}@{request.get_host().split(':')[0]}"
    picture = mark_safe(codes.picture(codes.address(secret, name)))  # noqa: S308 - drawn, not text
    key = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    return render(request, "accounts/set_up.html", {"form": form, "picture": picture, "key": key})


@require_POST
def renew_recovery_codes(request: PersonRequest) -> HttpResponse:
    """New recovery codes, for who gives password and code."""
    form = ConfirmForm(request, request.POST)
    if not _is_confirmed(request, form):
        return render(request, "accounts/second_factor.html", {"factor": second_factor_of(request.user), "form": form})
    recovery = actions.renew_recovery_codes(person=request.user)
    return render(request, "accounts/recovery_codes.html", {"recovery": recovery})


@require_POST
def turn_second_factor_off(request: PersonRequest) -> HttpResponse:
    """No second factor from now on, for who gives password and code."""
    form = ConfirmForm(request, request.POST)
    if not _is_confirmed(request, form):
        return render(request, "accounts/second_factor.html", {"factor": second_factor_of(request.user), "form": form})
    actions.remove_second_factor(person=request.user, acting_user=request.user)
    request.session.cycle_key()
    messages.success(request, "Your second factor is off: your password alone signs you in.")
    return redirect("second_factor")


def _is_confirmed(request: PersonRequest, form: ConfirmForm) -> bool:
    """Say whether the form holds the person's password and a good code, which is then used up."""
    if not form.is_valid():
        return False
    if reason := actions.why_refused(request.user, form.cleaned_data["code"]):
        form.add_error("code", reason)
        return False
    return True


@require_POST
def require_second_factor(request: PersonRequest, slug: str) -> HttpResponse:
    """Require a second factor of a campaign's people, or no longer."""
    campaign = organized_campaign(request.user, slug)
    required = request.POST.get("required") == "yes"
    actions.require_second_factor(campaign=campaign, required=required, acting_user=request.user)
    return redirect("campaign", slug)
