from django.urls import path

from support import views

urlpatterns = [
    path("support/<int:task_id>/", views.support, name="support"),
    path("support/<int:task_id>/answers/<int:sheet_id>/", views.answer, name="support_answer"),
    path("support/<int:task_id>/answers/<int:sheet_id>/label/", views.label, name="support_label"),
    path("support/<int:task_id>/answers/<int:sheet_id>/cannot/", views.cannot, name="support_cannot"),
    path("support/<int:task_id>/answers/<int:sheet_id>/flag/", views.flag, name="support_flag"),
    path("support/<int:task_id>/answers/<int:sheet_id>/show/", views.show, name="support_show"),
    path("support/<int:task_id>/answers/<int:sheet_id>/later/", views.later, name="support_later"),
    path("support/<int:task_id>/sign-off/", views.sign_off, name="support_sign_off"),
]
