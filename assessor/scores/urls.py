from django.urls import path

from assessor.scores import views

urlpatterns = [
    path("campaigns/<slug:slug>/scores/", views.scores, name="scores"),
    path(
        "campaigns/<slug:slug>/scores/<int:condition_id>/topics/<int:topic_id>/",
        views.topic_scores,
        name="topic_scores",
    ),
    path("campaigns/<slug:slug>/scores/<int:condition_id>/canaries/", views.canaries, name="canaries"),
    path("campaigns/<slug:slug>/scores/<int:condition_id>/runs/<int:run_id>/", views.run_scores, name="run_scores"),
]
