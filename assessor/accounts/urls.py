from django.contrib.auth import views as auth
from django.urls import path

from assessor.accounts import views

urlpatterns = [
    path("login/", views.SignIn.as_view(), name="login"),
    path("login/code/", views.sign_in_code, name="sign_in_code"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", views.PasswordChange.as_view(), name="password_change"),
    path(
        "password/done/",
        auth.PasswordChangeDoneView.as_view(template_name="accounts/password_done.html"),
        name="password_change_done",
    ),
    path("second-factor/", views.second_factor, name="second_factor"),
    path("second-factor/codes/", views.renew_recovery_codes, name="renew_recovery_codes"),
    path("second-factor/off/", views.turn_second_factor_off, name="turn_second_factor_off"),
    path("campaigns/<slug:slug>/second-factor/", views.require_second_factor, name="require_second_factor"),
]
