from django.urls import path

from assessor.preference import flag_views, views

_QUESTIONS = "campaigns/<slug:slug>/preference-questions/<int:condition_id>/"

urlpatterns = [
    path(_QUESTIONS, flag_views.questions, name="preference_questions"),
    path(f"{_QUESTIONS}adopt/", flag_views.adopt, name="adopt_preference"),
    path(f"{_QUESTIONS}decide/", flag_views.decide, name="decide_preference"),
    path("compare/<int:task_id>/", views.preference, name="preference"),
    path("compare/<int:task_id>/answers/<int:sheet_id>/", views.answer, name="preference_answer"),
    path("compare/<int:task_id>/answers/<int:sheet_id>/label/", views.label, name="preference_label"),
    path("compare/<int:task_id>/answers/<int:sheet_id>/cannot/", views.cannot, name="preference_cannot"),
    path("compare/<int:task_id>/answers/<int:sheet_id>/flag/", views.flag, name="preference_flag"),
    path("compare/<int:task_id>/answers/<int:sheet_id>/later/", views.later, name="preference_later"),
    path("compare/<int:task_id>/sign-off/", views.sign_off, name="preference_sign_off"),
]
