from django.urls import path

from assessor.notices import views

_WEBHOOKS = "campaigns/<slug:slug>/settings/webhooks"

urlpatterns = [
    path(f"{_WEBHOOKS}/", views.webhooks, name="webhooks"),
    path(f"{_WEBHOOKS}/<int:webhook_id>/test/", views.test, name="test_webhook"),
    path(f"{_WEBHOOKS}/<int:webhook_id>/secret/", views.renew, name="renew_webhook"),
    path(f"{_WEBHOOKS}/<int:webhook_id>/remove/", views.remove, name="remove_webhook"),
]
