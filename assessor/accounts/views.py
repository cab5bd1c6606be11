"""Signing in by password, passwords and one-time links, and what a campaign requires. Codes' pages: passkeys.py."""

from typing import Any

from allauth.account.internal.flows import password_reset
from allauth.account.views import (
    LoginView,
    LogoutView,
    PasswordChangeView,
    PasswordResetDoneView,
    PasswordResetFromKeyView,
    PasswordResetView,
    ReauthenticateView,
)
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from assessor.accounts import actions, single_sign_on
from assessor.accounts.forms import NewPasswordForm
from assessor.accounts.links import LINK_DAYS
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest


class SignIn(LoginView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"provider": single_sign_on.provider_name(), "mails": settings.MAILS}
        return super().get_context_data(**kwargs) | shown


class PasswordChange(PasswordChangeView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not self.request.user.has_usable_password():
            return render(request, "accounts/no_password.html")
        return super().dispatch(request, *args, **kwargs)


@method_decorator(login_not_required, name="dispatch")
class Forgotten(PasswordResetView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.MAILS:
            raise Http404
        return super().dispatch(request, *args, **kwargs)


class ByLink(PasswordResetFromKeyView):
    """What somebody does who came by a one-time link: set a password, or sign in at the provider and be linked."""

    success_url = reverse_lazy("account_login")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "provider" in request.POST and single_sign_on.is_on():
            from assessor.accounts.sign_on import begin

            return begin(request, "login", link={"person_id": self.reset_user.pk, "token": self.key})
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:
        with transaction.atomic():
            person = actions.use_link(person_id=self.reset_user.pk, token=self.key)
            if person is None:  # used in another tab a moment ago
                return self.render_to_response(self.get_context_data(token_fail=True))
            form.user = person
            form.save()
        self.logout()  # all of the person's sessions end, and this one may be theirs
        password_reset.finalize_password_reset(request=self.request, user=person)
        return redirect(self.get_success_url())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"person": self.reset_user, "provider": single_sign_on.provider_name(), "days": LINK_DAYS}
        return super().get_context_data(**kwargs) | shown

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        status = 410 if context.get("token_fail") else 200
        return super().render_to_response(context, status=status, **kwargs)


sign_in = SignIn.as_view()
sign_out = require_POST(LogoutView.as_view())
confirm = ReauthenticateView.as_view()
password = PasswordChange.as_view()
forgotten = Forgotten.as_view()
mailed = PasswordResetDoneView.as_view()
by_link = ByLink.as_view()


@require_POST
def require_second_factor(request: PersonRequest, slug: str) -> HttpResponse:
    """Require a second factor of a campaign's people, or no longer."""
    campaign = organized_campaign(request.user, slug)
    required = request.POST.get("required") == "yes"
    actions.require_second_factor(campaign=campaign, required=required, acting_user=request.user)
    return redirect("security", slug)
