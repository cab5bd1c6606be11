"""Addresses of signing in, by name allauth's where it asks for them. What it has besides is offered nowhere."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import path
from django.utils.module_loading import import_string


def _later(name: str, *, is_open: bool = False) -> Callable[..., HttpResponseBase]:
    """Import a view when somebody asks for it: most processes show none of these pages. is_open: to everybody."""

    def view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = import_string(f"assessor.accounts.{name}")(request, **kwargs)
        return response

    view.login_required = not is_open  # type: ignore[attr-defined]
    return view


urlpatterns = [
    path("login/", _later("views.sign_in", is_open=True), name="account_login"),
    path("login/code/", _later("passkeys.code", is_open=True), name="mfa_authenticate"),
    path("login/passkey/", _later("passkeys.passkey_sign_in", is_open=True), name="mfa_login_webauthn"),
    path("logout/", _later("views.sign_out"), name="account_logout"),
    path("confirm/", _later("views.confirm"), name="account_reauthenticate"),
    path("confirm/code/", _later("passkeys.confirm_by_code"), name="mfa_reauthenticate"),
    path("confirm/passkey/", _later("passkeys.confirm_by_passkey"), name="mfa_reauthenticate_webauthn"),
    path("password/", _later("views.password"), name="account_change_password"),
    path("password/forgotten/", _later("views.forgotten", is_open=True), name="account_reset_password"),
    path("password/mailed/", _later("views.mailed", is_open=True), name="account_reset_password_done"),
    path(
        "password/link/<slug:uidb36>/<slug:key>/",
        _later("views.by_link", is_open=True),
        name="account_reset_password_from_key",
    ),
    path("mail-address/", _later("views.mail_address"), name="account_email"),
    path("mail-address/<str:key>/", _later("views.confirm_address"), name="account_confirm_email"),
    path("security/", _later("passkeys.security"), name="mfa_index"),
    path("security/app/", _later("passkeys.set_app_up"), name="mfa_activate_totp"),
    path("security/app/off/", _later("passkeys.turn_app_off"), name="mfa_deactivate_totp"),
    path("security/recovery-codes/", _later("passkeys.recovery_codes"), name="mfa_view_recovery_codes"),
    path("security/recovery-codes/new/", _later("passkeys.renew_recovery_codes"), name="mfa_generate_recovery_codes"),
    path("security/passkeys/add/", _later("passkeys.add_passkey"), name="mfa_add_webauthn"),
    path("security/passkeys/<int:pk>/rename/", _later("passkeys.rename_passkey"), name="mfa_edit_webauthn"),
    path("security/passkeys/<int:pk>/remove/", _later("passkeys.remove_passkey"), name="mfa_remove_webauthn"),
    path("sso/", _later("sign_on.sign_on", is_open=True), name="sign_on"),
    path("sso/callback/", _later("sign_on.callback", is_open=True), name="sign_on_callback"),
    path("sso/link/", _later("sign_on.link"), name="link_account"),
    path("sso/<int:account_id>/unlink/", _later("sign_on.unlink"), name="unlink_account"),
    path("campaigns/<slug:slug>/second-factor/", _later("views.require_second_factor"), name="require_second_factor"),
]
