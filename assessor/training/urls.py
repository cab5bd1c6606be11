from django.urls import path

from assessor.training import views

urlpatterns = [
    path("practice/<int:task_id>/", views.practice_feedback, name="practice_feedback"),
    path("campaigns/<slug:slug>/practice/", views.practice, name="practice"),
    path("campaigns/<slug:slug>/practice/topics/", views.mark_topics, name="mark_practice"),
    path("campaigns/<slug:slug>/practice/<int:condition_id>/", views.practice_reference, name="practice_reference"),
    path(
        "campaigns/<slug:slug>/practice/<int:condition_id>/name/",
        views.name_practice_reference,
        name="name_practice_reference",
    ),
]
