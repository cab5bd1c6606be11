"""Signing in by password, passwords and one-time links, and what a campaign requires. Codes' pages: passkeys.py."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows import password_reset
from allauth.account.models import EmailConfirmationHMAC
from allauth.account.views import (
    ConfirmEmailView,
    LoginView,
    LogoutView,
    PasswordChangeView,
    PasswordResetDoneView,
    PasswordResetFromKeyView,
    PasswordResetView,
    ReauthenticateView,
)
from allauth.core.internal.ratelimit import consume_or_429
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from assessor.accounts import actions, single_sign_on
from assessor.accounts.forms import MailAddressForm, NewPasswordForm
from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.accounts.links import LINK_DAYS, site_of
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


class ConfirmAddress(ConfirmEmailView):
    """Where the mailed link leads, for whoever it was made for alone: it tells nobody else that there is an address."""

    def get_object(self, queryset: Any = None) -> EmailConfirmationHMAC:
        confirmation = EmailConfirmationHMAC.from_key(self.kwargs["key"])
        if confirmation is None or confirmation.email_address.user != self.request.user:
            raise Http404("There is no such address to confirm.")
        return confirmation

    @transaction.atomic
    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().post(*args, **kwargs)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        return super().render_to_response(context | {"days": LINK_DAYS}, status=200 if self.object else 410)


sign_in = in_own_language_unless_organizer(SignIn.as_view())
sign_out = require_POST(LogoutView.as_view())
confirm = ReauthenticateView.as_view()
password = PasswordChange.as_view(
    template_name="desk/form.html",
    extra_context={
        "title": "Change your password",
        "lead": "Your other browsers are signed out then.",
        "submit": "Change password",
        "back": reverse_lazy("mfa_index"),
    },
)
forgotten = Forgotten.as_view()
mailed = PasswordResetDoneView.as_view()
by_link = ByLink.as_view()
confirm_address = ConfirmAddress.as_view()


@reauthentication_required(app="allauth.account")  # type: ignore[untyped-decorator]
def mail_address(request: PersonRequest) -> HttpResponse:
    """Let a person change their mail address, to one that they confirm by a mailed link."""
    if not settings.MAILS:
        raise Http404
    form = MailAddressForm(request.POST or None, person=request.user)
    if form.is_valid():
        if too_many := consume_or_429(request, app="allauth.account", action="manage_email", user=request.user):
            return too_many
        email = form.cleaned_data["email"]
        if actions.change_address(person=request.user, email=email, site=site_of(request)):
            messages.success(request, f"Open the link that was mailed to {email}: then it is your address.")
        else:
            messages.error(request, "The mail could not be sent, so your address stays as it is. Try again later.")
        return redirect("mfa_index")
    title = "Change your mail address"
    context = {"form": form, "title": title, "submit": "Mail me a link", "back": reverse_lazy("mfa_index")}
    return render(request, "desk/form.html", context)


@require_POST
def require_second_factor(request: PersonRequest, slug: str) -> HttpResponse:
    """Require a second factor of a campaign's people, or no longer."""
    campaign = organized_campaign(request.user, slug)
    required = request.POST.get("required") == "yes"
    actions.require_second_factor(campaign=campaign, required=required, acting_user=request.user)
    return redirect("security", slug)
