from django.urls import path

from nuggets.candidates import views

_CONDITION = "campaigns/<slug:slug>/candidates/<int:condition_id>"

urlpatterns = [
    path(f"{_CONDITION}/", views.all_topics, name="candidates"),
    path(f"{_CONDITION}/topics/<int:topic_id>/", views.of_topic, name="topic_candidates"),
]
